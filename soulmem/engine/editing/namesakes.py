"""Two people of one name: told apart by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from soulmem.conversation.importance import UNREAD
from soulmem.domain.errors import Unprocessable, no_memory
from soulmem.domain.ids import MemoryId, Owner, new_id
from soulmem.domain.memories import DERIVED, Memory, MemoryKind, Origin
from soulmem.domain.phrases import phrase
from soulmem.domain.situation import ConceptDetail
from soulmem.engine.editing.fact_views import mind_with
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.views.provenance import source_places
from soulmem.engine.world.audit import BY_USER
from soulmem.engine.world.services import Services
from soulmem.language.name_tokens import fold


class Namesakes:
    """Makes two concepts of one, in one change that happens whole or not at all."""

    def __init__(self, services: Services, *, on_new_texts: Callable[[], None]) -> None:
        """on_new_texts  called when texts may want a vector"""
        self._world_of = services.world_of
        self._auditor = services.auditor
        self._compute = services.compute
        self._clock = services.clock
        self._on_new_texts = on_new_texts

    async def split(self, owner: Owner, concept: MemoryId, name: str, other: str) -> MemoryId:
        """Name the concept `name` and make another of the name `other`, whose id is returned.

        Both keep the name that the concept had; its other names, relations and texts stay with it. Raises
        NotFound, and Unprocessable for a memory of another kind and for two names that are the same.
        """
        if fold(name) == fold(other):
            raise Unprocessable(
                phrase(
                    "same_name",
                    "both would be called '{name}': give two names",
                    name=name,
                ),
                field="other",
            )
        world = await self._world_of(owner)
        mind = await mind_with(world, concept)
        async with world.writing as token:
            old = mind.memories.get(concept)
            if old is None:
                raise no_memory(concept, field="concept")
            if old.kind is not MemoryKind.CONCEPT:
                raise Unprocessable(
                    phrase(
                        "only_concepts_named",
                        "'{concept}' is of kind '{kind}': only a concept has a name",
                        concept=concept,
                        kind=old.kind.value,
                    ),
                    field="concept",
                )
            kept = replace(renamed(old, name), origin=Origin.USER, revision=old.revision + 1)
            if old.origin in DERIVED:
                places = await self._compute.run(source_places, mind, old)
                kept = replace(kept, place=next(iter(places), None))
            made = _namesake(old, other, self._clock.now())
            change = MindChange(put_memories=(kept, made))
            await self._auditor.carry_out(token, world, mind, change, BY_USER)
        self._on_new_texts()
        return made.id


def renamed(old: Memory, name: str) -> Memory:
    """The concept under its new name; messages still call it by the former ones."""
    detail = old.concept or ConceptDetail()
    aliases = dict.fromkeys((old.text, *detail.aliases))
    aliases.pop(name, None)
    return replace(old, text=name, concept=replace(detail, aliases=tuple(aliases)))


def _namesake(old: Memory, name: str, current_time: datetime) -> Memory:
    """A new concept that goes by the name of the old one, too."""
    detail = old.concept or ConceptDetail()
    aliases = (old.text,) if old.text != name else ()
    return Memory(
        id=MemoryId(new_id("m")),
        soul=old.soul,
        kind=MemoryKind.CONCEPT,
        text=name,
        origin=Origin.USER,
        created=current_time,
        importance=UNREAD,
        concept=ConceptDetail(detail.concept_type, aliases),
    )
