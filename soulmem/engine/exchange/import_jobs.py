"""Jobs that import a file: read it, report what an import would do, or import it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from soulmem.domain.ids import Owner, SoulId
from soulmem.engine.api.requests import ImportFormat, ImportRequest
from soulmem.engine.exchange.bundle_import import BundleImport
from soulmem.engine.exchange.chat_import import ChatImport
from soulmem.engine.exchange.lore_import import LoreImport
from soulmem.engine.runtime.jobs import JobKind, JobRun, Jobs
from soulmem.engine.vectors.embedder import EmbeddingService
from soulmem.transfer.book import read_world
from soulmem.transfer.card import read_card
from soulmem.transfer.chat_log import read_chat_file
from soulmem.transfer.lore import CARD, Cast, Lore, store_source, world_source
from soulmem.transfer.memory_stores import read_store

KIND = "import"
_SAMPLES = 8  # texts embedded to estimate the duration of the rest
# Of one message without embedding: 5,000 took 19 s on two busy cores.
_WRITE_SECONDS = 0.006
_VECTORS = 2  # of one message: by itself, and with the message before it
_ENDING = re.compile(r"\.(jsonl|json|png|charx|md|txt)\Z", re.IGNORECASE)


@dataclass(kw_only=True, eq=False)
class ImportJobs:
    """Registers the job that imports a file."""

    jobs: Jobs
    chats: ChatImport
    lore: LoreImport
    bundles: BundleImport
    embedding: EmbeddingService

    def job_kinds(self) -> tuple[JobKind, ...]:
        """The jobs that this service runs."""
        return (JobKind(KIND, self._work, arguments=None, resumes=True),)

    async def start(self, owner: Owner, request: ImportRequest) -> str:
        """Start an import; the id of the job. Raises NotFound for a missing soul."""
        for soul in request.others:
            await self.jobs.check(owner, soul)
        arguments = {
            "format": request.format.value,
            "name": request.name,
            "others": list(request.others),
            "persona": request.persona,
            "dry_run": request.dry_run,
            "confirm_removal": request.confirm_removal,
        }
        return await self.jobs.start(owner, KIND, request.soul, arguments, request.data)

    async def _work(self, run: JobRun) -> dict[str, Any]:
        data = await run.payload()
        format_ = ImportFormat(run.arguments["format"])
        if format_ is ImportFormat.ST_CHAT:
            result = await self._chat(run, data)
        elif format_ is ImportFormat.BUNDLE:
            result = await self.bundles.take_in(run, data)
        else:
            result = await self._statements(run, data, format_)
        return {"format": format_.value, "dry_run": run.arguments["dry_run"], **result}

    async def _chat(self, run: JobRun, data: bytes) -> dict[str, Any]:
        souls = list(dict.fromkeys([run.soul, *map(SoulId, run.arguments["others"])]))
        title = plain_name(run.arguments["name"])
        log = await asyncio.to_thread(read_chat_file, data, title, souls)
        log = await self.chats.placed(run.owner, log, souls)
        confirmed = bool(run.arguments["confirm_removal"])
        file_summary = {
            "chat": log.chat,
            "title": log.title,
            "messages": len(log.messages),
            "branch_of": log.parent.chat if log.parent else None,
            "undated": log.undated,
            "broken": [{"line": b.number, "reason": b.reason} for b in log.broken],
        }
        if not run.arguments["dry_run"]:
            result = await self.chats.take_in(run, log, souls, confirmed=confirmed)
            return {**file_summary, **result}
        expected = await self.chats.expected(run.owner, log, souls, confirmed=confirmed)
        return {
            **file_summary,
            "added": expected.added,
            "changed": expected.changed,
            "removed": expected.removed,
            "held": expected.unconfirmed,
            "memories": len(expected.texts),
            "minutes": await self._minutes(expected.texts, _VECTORS),
        }

    async def _statements(self, run: JobRun, data: bytes, format_: ImportFormat) -> dict[str, Any]:
        title = plain_name(run.arguments["name"])
        cast = await self.lore.cast(run.owner, run.soul, run.arguments["persona"])
        source, lore = await asyncio.to_thread(_read_lore, data, title, cast, format_)
        file_summary = {
            "title": lore.title,
            "memories": len(lore.statements),
            "names": len(lore.names),
            "disabled": lore.disabled,
            "instructions": lore.instructions,
            "broken": [{"where": b.where, "reason": b.reason} for b in lore.broken],
        }
        if run.arguments["dry_run"]:
            file_summary["habits"] = [
                {"when": h.when, "does": h.does, "often": h.often.value} for h in lore.habits
            ]
            counts, texts = await self.lore.expected(run.owner, run.soul, lore, source)
            minutes = await self._minutes(texts, vectors=1)
            return {**file_summary, **counts.as_result(), "minutes": minutes}
        counts = await self.lore.take_in(run, lore, source)
        self.embedding.wake()
        return {**file_summary, **counts.as_result()}

    async def _minutes(self, texts: Sequence[str], vectors: int) -> float:
        """Estimated minutes until all these texts can be recalled, from the pace of a few of them."""
        step = max(1, len(texts) // _SAMPLES)
        pace = await self.embedding.seconds_per_text(texts[::step][:_SAMPLES])
        return round(len(texts) * (_WRITE_SECONDS + vectors * pace) / 60.0, 2)


def _read_lore(data: bytes, title: str, cast: Cast, format_: ImportFormat) -> tuple[str, Lore]:
    """The source and the statements of a card, a world or a store of another extension."""
    if format_ is ImportFormat.CARD:
        return CARD, read_card(data, cast)
    if format_ is ImportFormat.MEMORY_STORE:
        return store_source(title), read_store(data, title, cast)
    return world_source(title), read_world(data, title, cast)


def plain_name(name: str) -> str:
    """A file's name without folders and ending; "chat" if that is empty."""
    return _ENDING.sub("", name.replace("\\", "/").rpartition("/")[2]).strip() or "chat"
