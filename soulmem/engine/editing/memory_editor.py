"""Creates, shows, changes, deletes and restores memories by hand."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeVar

from soulmem.conversation.episodes import spoken
from soulmem.conversation.importance import UNREAD
from soulmem.conversation.text_analysis import read
from soulmem.domain.audit import Action, Actor
from soulmem.domain.edges import TEXTS
from soulmem.domain.errors import (
    ConfirmationRequired,
    Conflict,
    NotFound,
    Unprocessable,
    no_memory,
)
from soulmem.domain.ids import MemoryId, Owner, SoulId, new_id
from soulmem.domain.memories import (
    BINNED,
    DERIVED,
    Memory,
    MemoryKind,
    MemoryState,
    Origin,
    Place,
    Timelines,
)
from soulmem.domain.opinions import Opinion
from soulmem.domain.phrases import phrase
from soulmem.domain.situation import ConceptDetail, Situation
from soulmem.engine.api.requests import MemoryFilter, MemoryPatch, NewMemory, TagMatch
from soulmem.engine.api.results import GraphView, MemoryView, Page
from soulmem.engine.editing import memory_views as listing
from soulmem.engine.editing.fact_views import mind_with
from soulmem.engine.editing.fading_edits import edited_fading
from soulmem.engine.editing.graph_views import surroundings
from soulmem.engine.editing.memory_checks import (
    check_kind,
    check_purgeable,
    follows_a_source,
    needs_a_place,
    takes_over,
)
from soulmem.engine.editing.namesakes import renamed
from soulmem.engine.editing.user_edges import check_fires, check_topic, requested_edges
from soulmem.engine.editing.word_search import WordSearch
from soulmem.engine.mind.changes import MindChange
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.runtime.write_lock import WriteToken
from soulmem.engine.views.concept_descriptions import (
    drafts_of,
    repeated_concepts,
    repeats_of,
)
from soulmem.engine.views.doubted import with_doubt
from soulmem.engine.views.provenance import source_places
from soulmem.engine.world.audit import BY_USER, ChangeAuthor
from soulmem.engine.world.services import Services
from soulmem.engine.world.world import World
from soulmem.governance.protection import check_unprotected

T = TypeVar("T", Situation, ConceptDetail)

# How much the strongest feeling that the user states adds to the importance of a memory made by hand.
_FELT = 0.4


class MemoryEditor:
    """Changes memories by the user, or by the given author: the store first, then the mind."""

    def __init__(
        self,
        services: Services,
        *,
        search: Callable[[World, SoulId, str], Awaitable[list[MemoryId]]],
        drain_learning: Callable[[], Awaitable[None]],
        on_new_texts: Callable[[], None],
        judge: Callable[[str], Awaitable[float | None]],
    ) -> None:
        """search          ranks a soul's memories by a text, as a recall does
        drain_learning  returns once settled replies have taught
        on_new_texts    called when texts may want a vector
        judge           how much a text matters by its lines; None where no lines are judged
        """
        self._world_of = services.world_of
        self._drain_learning = drain_learning
        self._on_new_texts = on_new_texts
        self._judge = judge
        self._search = search
        self._auditor = services.auditor
        self._compute = services.compute
        self._words = WordSearch(services.compute)
        self._clock = services.clock
        self._loader = services.loader

    async def create(
        self,
        owner: Owner,
        new: NewMemory,
        author: ChangeAuthor = BY_USER,
        state: MemoryState = MemoryState.ACTIVE,
    ) -> MemoryView:
        """Create a memory.

        Raises NotFound for an unknown soul, chat, slot or edge end, Unprocessable for
        an invalid edge, for a summary and for a digest.
        """
        world = await self._world_of(owner)
        world.soul(new.soul)
        if new.kind is MemoryKind.SUMMARY:
            raise Unprocessable(
                phrase(
                    "summary_by_hand",
                    "a summary is of a chat: it is not made by hand; make a note",
                ),
                field="kind",
            )
        if new.kind is MemoryKind.DIGEST:
            raise Unprocessable(
                phrase(
                    "digest_by_hand",
                    "a digest is of a period: make one with the job `digest`; by hand make a note",
                ),
                field="kind",
            )
        async with world.writing as token:
            mind = await world.mind_while_writing(token, new.soul)
            current_time, importance = self._clock.now(), _importance(new)
            memory = Memory(
                id=MemoryId(new_id("m")),
                soul=new.soul,
                kind=new.kind,
                text=new.text,
                origin=Origin.USER,
                created=current_time,
                tags=tuple(dict.fromkeys(new.tags)),
                importance=UNREAD if importance is None else importance,
                importance_given=importance is not None,
                permanent=new.permanent,
                locked=new.locked,
                timelines=new.timelines,
                place=await self._place(world, new.timelines, new.chat, new.slot),
                situation=new.situation,
                concept=new.concept,
                state=state,
            )
            memory = await self._compute.run(with_text_analysis, memory)
            edges = await self._compute.run(
                requested_edges,
                mind,
                memory,
                new.edges,
                current_time,
                self._clock.extra_turns,
            )
            stamp = current_time, self._clock.extra_turns
            fading = await self._compute.run(
                edited_fading, mind, None, memory, new.units, new.anchors, *stamp
            )
            change = MindChange(put_memories=(memory,), put_edges=edges, put_fading=fading)
            await self._commit(token, world, mind, change, author)
        self._on_new_texts()
        return await self.view(world, mind, memory.id)

    async def patch(
        self,
        owner: Owner,
        memory: MemoryId,
        patch: MemoryPatch,
        author: ChangeAuthor = BY_USER,
    ) -> MemoryView:
        """Change a memory.

        Raises NotFound, Conflict for a stale revision, Unprocessable, and Forbidden for
        a protected memory when the author is not the user.
        """
        world = await self._world_of(owner)
        mind = await mind_with(world, memory)
        async with world.writing as token:
            old = self._existing(mind, memory)
            if author.actor is not Actor.USER:
                check_unprotected(old)
            if patch.revision is not None and patch.revision != old.revision:
                raise Conflict(
                    phrase(
                        "revision_old",
                        "memory '{memory}' is at revision {stored}, not {sent}: read it again",
                        memory=memory,
                        stored=old.revision,
                        sent=patch.revision,
                    ),
                    field="revision",
                )
            check_kind(old, patch)
            changes = _changes(old, patch)
            new = replace(old, revision=old.revision + 1, **changes)
            if _is_renamed(old, patch):
                new = renamed(replace(new, text=old.text), new.text)
            if new.text != old.text:
                new = await self._compute.run(with_text_analysis, new)
            if patch.concept is not None:
                await self._compute.run(check_topic, mind, new)
            if changes and follows_a_source(old):
                new = replace(new, origin=Origin.USER)
            if author.actor is Actor.USER and takes_over(old, patch):
                places = await self._compute.run(source_places, mind, old)
                new = replace(new, origin=Origin.USER, place=next(iter(places), None))
            if needs_a_place(new, patch):
                place = await self._place(world, Timelines.THIS, patch.chat, patch.slot)
                new = replace(new, place=place)
            current_time = self._clock.now()
            wanted = patch.edges or ()
            edges = await self._compute.run(
                requested_edges,
                mind,
                new,
                wanted,
                current_time,
                self._clock.extra_turns,
            )
            opinions: tuple[Opinion, ...] = ()
            if patch.in_doubt is not None:
                opinion = await self._compute.run(
                    with_doubt, mind, memory, new.text, patch.in_doubt
                )
                opinions = (opinion,)
            stamp = current_time, self._clock.extra_turns
            fading = await self._compute.run(
                edited_fading, mind, old, new, patch.units, patch.anchors, *stamp
            )
            change = MindChange(
                put_memories=(new,),
                put_edges=edges,
                put_opinions=opinions,
                put_fading=fading,
            )
            await self._commit(token, world, mind, change, author)
        self._on_new_texts()
        return await self.view(world, mind, memory)

    async def delete(
        self,
        owner: Owner,
        memory: MemoryId,
        confirm: str | None,
        author: ChangeAuthor = BY_USER,
    ) -> None:
        """Put a memory into the bin, or purge it from there with `confirm` = "purge".

        Drafted concepts for which a concept is shown go with it. A permanent memory needs `confirm` =
        "permanent", else ConfirmationRequired is raised. Purging raises Conflict for a memory that is not in the
        bin, and for one that a chat or the card would bring back.
        """
        world = await self._world_of(owner)
        mind = await mind_with(world, memory)
        async with world.writing as token:
            old = self._existing(mind, memory)
            if author.actor is not Actor.USER:
                check_unprotected(old)
            if confirm == "purge":
                await self._compute.run(check_purgeable, mind, old)
                purge = MindChange(drop_memories=(memory,), purge_audit=(memory,))
                await self._commit(token, world, mind, purge, replace(author, action=Action.PURGE))
                return
            if old.permanent and confirm != "permanent":
                raise ConfirmationRequired(
                    phrase(
                        "permanent_confirm",
                        "memory '{memory}' is permanent: repeat with ?confirm=permanent",
                        memory=memory,
                    ),
                    field="confirm",
                )
            if old.state is not MemoryState.BIN:
                repeats = await self._compute.run(_repeats, mind, old)
                new = [
                    replace(m, state=MemoryState.BIN, revision=m.revision + 1)
                    for m in (old, *repeats)
                ]
                await self._commit(token, world, mind, MindChange(put_memories=tuple(new)), author)

    async def restore(self, owner: Owner, memory: MemoryId) -> MemoryView:
        """Take a memory, and drafted concepts of its names, out of the bin.

        One that no chat supports any more, or that came from a card, becomes the user's
        own: the next import would put it back into the bin.
        """
        world = await self._world_of(owner)
        mind = await mind_with(world, memory)
        async with world.writing as token:
            old = self._existing(mind, memory)
            if old.state in BINNED:
                await self._compute.run(check_fires, mind, old)
                new = replace(old, state=MemoryState.ACTIVE, revision=old.revision + 1)
                places = await self._compute.run(source_places, mind, old)
                if new.origin in DERIVED and not places:
                    new = replace(new, origin=Origin.USER, timelines=Timelines.ALL)
                elif (
                    new.origin in DERIVED and old.state is MemoryState.FORGOTTEN
                ):  # else it would be forgotten again
                    new = replace(
                        new,
                        origin=Origin.USER,
                        place=next(iter(places), None),
                    )
                elif new.origin is Origin.CARD and new.kind is not MemoryKind.CONCEPT:
                    new = replace(new, origin=Origin.USER)
                drafts = await self._compute.run(drafts_of, mind, old)
                back = [
                    replace(d, state=MemoryState.ACTIVE, revision=d.revision + 1)
                    for d in drafts
                    if d.state is MemoryState.BIN
                ]
                change = MindChange(put_memories=(new, *back))
                await self._commit(token, world, mind, change, BY_USER)
        self._on_new_texts()
        return await self.view(world, mind, memory)

    async def get(self, owner: Owner, memory: MemoryId) -> MemoryView:
        """A memory, or a fact, with its sources and edges, after all settled replies have taught."""
        world = await self._world_of(owner)
        await self._drain_learning()
        return await self.view(world, await mind_with(world, memory), memory)

    async def view(self, world: World, mind: Mind, memory: MemoryId) -> MemoryView:
        """As `get`, for a memory of a given mind."""
        await self._loader.complete(world.owner, mind, [memory])
        view = await self._compute.run(listing.whole, mind, memory, self._clock.extra_turns)
        if view.memory.origin is not Origin.CHAT:
            return view
        logs = [await world.log(place.chat) for place in view.sources[:1]]
        left_out = await self._compute.run(listing.left_out, mind, view.memory, logs)
        return replace(view, left_out=left_out)

    async def list(self, owner: Owner, wanted: MemoryFilter) -> Page:
        """One page of memories, best rung of the tag ladder first, then the newest.

        Matches by meaning come first, in the order of a recall. Raises NotFound,
        Unprocessable (cursor).
        """
        world = await self._world_of(owner)
        world.soul(wanted.soul)
        after = listing.cursor_of(wanted.cursor) if wanted.cursor is not None else None
        ranked: Sequence[MemoryId] = ()
        if wanted.q and wanted.match is TagMatch.MEANING and wanted.state is MemoryState.ACTIVE:
            ranked = await self._search(world, wanted.soul, wanted.q)
        mind = await world.mind(wanted.soul)
        if wanted.part.about is not None:
            await self._loader.complete(owner, mind, [wanted.part.about])
        extra, run = self._clock.extra_turns, self._compute.run
        if listing.is_by_columns(wanted):
            return await run(listing.page, mind, wanted, after, extra, ranked)
        return await self._words.page(mind, wanted, after, extra, ranked)

    async def timeline(
        self,
        owner: Owner,
        soul: SoulId,
        start: datetime | None,
        end: datetime | None,
        limit: int,
        cursor: str | None,
    ) -> Page:
        """Memories whose time overlaps from (inclusive) .. to (exclusive), oldest first.

        Raises NotFound, Unprocessable (cursor).
        """
        mind = await self._open_mind(await self._world_of(owner), soul)
        after = listing.cursor_of(cursor) if cursor is not None else None
        return await self._compute.run(
            listing.span_page, mind, start, end, limit, after, self._clock.extra_turns
        )

    async def graph(
        self,
        owner: Owner,
        soul: SoulId,
        center: MemoryId | None,
        hops: int,
        limit: int,
        also: Sequence[MemoryId] = (),
    ) -> GraphView:
        """At most `limit` memories in use around `center` (all, when None) with `also`, and the edges among them.

        Raises NotFound.
        """
        mind = await self._open_mind(await self._world_of(owner), soul)
        while True:
            extra = self._clock.extra_turns
            view = await self._compute.run(surroundings, mind, center, hops, limit, extra, also)
            # In a partly loaded soul the memories shown may have edges, and neighbours, that are not loaded yet.
            shown = [memory_view.memory.id for memory_view in view.memories]
            if not await self._loader.complete(owner, mind, shown):
                return view

    async def _open_mind(self, world: World, soul: SoulId) -> Mind:
        return await world.mind(world.soul(soul).id)

    def _existing(self, mind: Mind, memory: MemoryId) -> Memory:
        stored_memory = mind.memories.get(memory)
        if stored_memory is None:
            raise no_memory(memory, field="id")
        return stored_memory

    async def _place(
        self, world: World, timelines: Timelines, chat: object, slot: object
    ) -> Place | None:
        if chat is None:
            if timelines is Timelines.THIS:
                raise Unprocessable(
                    phrase(
                        "timeline_needs_chat",
                        "timelines `this` needs the chat it belongs to",
                    ),
                    field="chat",
                )
            return None
        head = world.head(chat)  # type: ignore[arg-type]
        log = await world.log(head.id)
        assert log is not None
        if slot is None:
            if not log.messages:
                raise Unprocessable(
                    phrase(
                        "chat_empty",
                        "chat '{chat}' has no message a memory could belong to",
                        chat=head.id,
                    ),
                    field="chat",
                )
            return Place(head.id, log.messages[-1].slot)
        if slot not in log.index:
            raise NotFound(
                phrase(
                    "chat_no_message",
                    "chat '{chat}' has no message '{slot}'",
                    chat=head.id,
                    slot=slot,
                ),
                field="slot",
            )
        return Place(head.id, slot)  # type: ignore[arg-type]

    async def _commit(
        self,
        token: WriteToken,
        world: World,
        mind: Mind,
        change: MindChange,
        author: ChangeAuthor,
    ) -> None:
        memories = [await self._with_figure(mind, m) for m in change.put_memories]
        change = replace(change, put_memories=tuple(memories))
        await self._auditor.carry_out(token, world, mind, change, author)

    async def _with_figure(self, mind: Mind, memory: Memory) -> Memory:
        """The memory; one that becomes the user's own keeps its present importance."""
        if memory.importance_given or not memory.importance_stays:
            return memory
        old = mind.memories.get(memory.id)
        is_same = old is not None and old.text == memory.text
        has_it = is_same and old is not None and old.importance_stays
        if has_it or not mind.line_kinds.judges(memory):
            return memory
        figure = None
        if is_same:
            figure = await self._compute.run(mind.line_kinds.judged_importance, memory)
        if figure is None:
            figure = await self._judge(spoken(memory))
        return memory if figure is None else replace(memory, importance=round(figure, 4))


@compute_only
def _repeats(mind: Mind, concept: Memory) -> list[Memory]:
    """The drafted concepts for which this one is shown."""
    return repeats_of(mind, concept, repeated_concepts(mind))


def _importance(new: NewMemory) -> float | None:
    """The importance that the user gave, as a figure or by feelings; None without either."""
    feelings = new.situation.emotions
    if new.importance is not None or not feelings:
        return new.importance
    return UNREAD + _FELT * max(feeling.intensity for feeling in feelings)


def with_text_analysis(memory: Memory) -> Memory:
    """The memory with the terms and names of its text; its situation is left to the user."""
    if memory.kind not in TEXTS:
        return memory
    analysis = read(spoken(memory))
    return replace(memory, terms=analysis.terms, names=analysis.names)


def _is_renamed(memory: Memory, patch: MemoryPatch) -> bool:
    """Whether a concept gets another name while its aliases are left as they are."""
    says_aliases = patch.concept is not None and (patch.fields is None or "aliases" in patch.fields)
    is_name = memory.kind is MemoryKind.CONCEPT and not memory.is_topic
    return is_name and not says_aliases and patch.text not in (None, memory.text)


def _changes(memory: Memory, patch: MemoryPatch) -> dict[str, Any]:
    fields = ("text", "tags", "importance", "permanent", "locked", "timelines")
    out = {name: value for name in fields if (value := getattr(patch, name)) is not None}
    if patch.importance is not None:
        out["importance_given"] = True
    if patch.situation is not None:
        out["situation"] = _merged(memory.situation, patch.situation, patch.fields)
    if patch.concept is not None:
        out["concept"] = _merged(memory.concept or ConceptDetail(), patch.concept, patch.fields)
    return out


def _merged(old: T, new: T, fields: frozenset[str] | None) -> T:
    """`new`, or `old` with only these fields of `new`."""
    return new if fields is None else replace(old, **{name: getattr(new, name) for name in fields})
