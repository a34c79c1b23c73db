"""Converts audit entries, deletions, opinions, fading, derivations and LLM usage to rows and back."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from soulmem.adapters.surreal.compressed import packed_text, unpacked_text
from soulmem.adapters.surreal.rows import Row, Table, instant, moment
from soulmem.domain.audit import Action, Actor, AuditEntry, AuditQuery, FieldValues
from soulmem.domain.deletions import Deletion, DeletionState
from soulmem.domain.derivations import Derivation
from soulmem.domain.fading_records import FadingRecord
from soulmem.domain.ids import ChatId, MemoryId, Owner, SoulId
from soulmem.domain.llm_usage import SoulLlmUsage
from soulmem.domain.opinions import Opinion
from soulmem.graph.packed_fading import packed_fading, unpacked_fading

AUDIT = Table(
    "audit",
    ("soul", "at", "actor", "action", "target", "before", "after", "source", "reason"),
    key=1,
)
DELETIONS = Table(
    "deletion",
    ("soul", "memory", "actor", "reason", "quote", "at", "state", "decided"),
    key=1,
)
OPINIONS = Table("opinion", ("soul", "score", "doubted", "not_in"))
FADING = Table("fading", ("soul", "told"))
DERIVATIONS = Table("derivation", ("told",))
BOOKS = Table("books", ("told",), key=1)


def audit_row(owner: Owner, entry: AuditEntry) -> Row:
    return {
        "id": [owner, entry.id],
        "owner": owner,
        "soul": entry.soul,
        "key": entry.id,
        "at": entry.moment,
        "actor": entry.actor.value,
        "action": entry.action.value,
        "target": entry.target,
        "before": _text(entry.before),
        "after": _text(entry.after),
        "source": entry.source,
        "reason": entry.reason,
    }


def audit_of(line: str) -> AuditEntry:
    key, soul, moment_text, actor, action, target, before, after, source, reason = json.loads(line)
    return AuditEntry(
        id=key,
        soul=SoulId(soul),
        moment=instant(moment_text),
        actor=Actor(actor),
        action=Action(action),
        target=target,
        before=None if before is None else json.loads(before),
        after=None if after is None else json.loads(after),
        source=source,
        reason=reason,
    )


def audit_filter(owner: Owner, wanted: AuditQuery) -> tuple[str, dict[str, Any]]:
    """The condition that selects the entries, and its parameters."""
    parts: list[str] = ["owner = $owner"]
    params: dict[str, Any] = {"owner": owner}
    for field, value in (
        ("soul", wanted.soul),
        ("target", wanted.target),
        ("key", wanted.id),
        ("source", wanted.source),
        ("action", None if wanted.action is None else wanted.action.value),
    ):
        if value is not None:
            parts.append(f"{field} = ${field}")
            params[field] = value
    if wanted.since is not None:
        parts.append("at >= $since")
        params["since"] = wanted.since
    if wanted.before is not None:
        parts.append("key < $older_than")
        params["older_than"] = wanted.before
    return " AND ".join(parts), params


def deletion_row(owner: Owner, deletion: Deletion) -> Row:
    return {
        "id": [owner, deletion.id],
        "owner": owner,
        "soul": deletion.soul,
        "memory": deletion.memory,
        "actor": deletion.actor.value,
        "reason": deletion.reason,
        "quote": deletion.quote,
        "at": deletion.requested,
        "state": deletion.state.value,
        "decided": deletion.decided,
    }


def deletion_of(line: str) -> Deletion:
    key, soul, memory, actor, reason, quote, asked_at, state, decided = json.loads(line)
    return Deletion(
        id=key,
        soul=SoulId(soul),
        memory=MemoryId(memory),
        actor=Actor(actor),
        reason=reason,
        quote=quote,
        requested=instant(asked_at),
        state=DeletionState(state),
        decided=moment(decided),
    )


def opinion_row(owner: Owner, opinion: Opinion) -> Row:
    return {
        "id": [owner, opinion.memory],
        "owner": owner,
        "soul": opinion.soul,
        "key": opinion.memory,
        "score": float(opinion.score),
        "doubted": opinion.doubted,
        "not_in": list(opinion.not_in),
    }


def opinion_of(line: str) -> Opinion:
    key, soul, score, doubted, not_in = json.loads(line)
    return Opinion(MemoryId(key), SoulId(soul), score, doubted, tuple(map(ChatId, not_in)))


def fading_row(owner: Owner, record: FadingRecord) -> Row:
    return {
        "id": [owner, record.memory],
        "owner": owner,
        "soul": record.soul,
        "key": record.memory,
        "told": msgspec.json.encode(packed_fading(record)).decode(),
    }


def fading_of(line: str) -> FadingRecord:
    key, soul, text = json.loads(line)
    return unpacked_fading(json.loads(text), MemoryId(key), SoulId(soul))


def derivation_row(owner: Owner, derivation: Derivation) -> Row:
    text = packed_text(msgspec.json.encode(derivation))
    return {
        "id": [owner, derivation.id],
        "owner": owner,
        "soul": derivation.soul,
        "key": derivation.id,
        "told": text,
    }


def derivation_of(line: str) -> Derivation:
    _, text = json.loads(line)
    return msgspec.json.decode(unpacked_text(text), type=Derivation)


def books_text(books: SoulLlmUsage) -> str:
    return msgspec.json.encode(books).decode()


def books_of(line: str) -> SoulLlmUsage:
    _, text = json.loads(line)
    return msgspec.json.decode(text, type=SoulLlmUsage)


def _text(value: FieldValues | None) -> str | None:
    return None if value is None else json.dumps(value, ensure_ascii=False)
