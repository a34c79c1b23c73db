"""What of a language model's words belongs to this moment: which summary, and what is still on the screen?

Computes: worker only.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.engine.mind.mind import Mind
from soulmem.engine.views.doubted import is_in_doubt
from soulmem.graph.association import MEMORY_KINDS

_ACTION = MEMORY_KINDS.index(MemoryKind.ACTION)


def drafts_within_window(
    mind: Mind, chat: ChatId, inside: Collection[int]
) -> list[int]:
    """The rows of what was drafted of nothing but the messages at the rows `inside`, the last of the chat.

    An action is not what was said: it may be told whatever stands on the screen.
    """
    if not mind.derivations or not inside:
        return []
    told = {mind.id_at(row) for row in inside}
    made = {
        product.id
        for one in mind.derivations.of_chat(chat)
        if one.read[-1] in told
        for product in one.products
        if told.issuperset(product.cited or one.read)
    }
    only = (key for key in made if told.issuperset(mind.derivations.cited(key)))
    rows = (row for key in only if (row := mind.row(MemoryId(key))) is not None)
    return [row for row in rows if mind.columns.kind[row] != _ACTION]


def summary_before(
    mind: Mind, chat: ChatId | None, inside: Sequence[int]
) -> Memory | None:
    """What sums up the chat as far as it lies before the rows `inside`, which are its last."""
    branch = (
        mind.branches.branch(chat) if chat is not None and mind.derivations else None
    )
    if branch is None:
        return None
    found = newest_summary(mind, branch.chat, len(branch.order) - len(inside))
    made = found.products[0].id if found is not None and found.products else None
    memory = mind.memories.get(MemoryId(made)) if made is not None else None
    if (
        memory is None
        or memory.state is not MemoryState.ACTIVE
        or is_in_doubt(mind, memory.id)
    ):
        return None
    return memory


def newest_summary(
    mind: Mind, chat: ChatId, before: int | None = None
) -> Derivation | None:
    """The last version of the chat's summary, of those that end before the `before`-th episode."""
    branch = mind.branches.branch(chat)
    if branch is None:
        return None
    held = [one for one in mind.derivations.of_chat(chat) if one.work is Work.SUMMARY]
    if not held:
        return None
    chain, _ = summary_chain(branch.order, held)
    end, found = 0, None
    for one in chain:
        end += len(one.read)
        if before is None or end <= before:
            found = one
    return found


def summary_chain(
    order: Sequence[MemoryId], held: Sequence[Derivation]
) -> tuple[list[Derivation], list[str]]:
    """The versions of the summary, each of which goes on where the one before ends, and the others."""
    fits: dict[str | None, list[Derivation]] = {}
    for one in held:
        fits.setdefault(one.after, []).append(one)
    chain: list[Derivation] = []
    end = 0
    while True:
        after = chain[-1].id if chain else None
        found = [
            o for o in fits.get(after, ()) if order[end : end + len(o.read)] == o.read
        ]
        if not found:
            break
        chain.append(max(found, key=lambda one: (len(one.read), one.id)))
        end += len(chain[-1].read)
    kept = {one.id for one in chain}
    return chain, [one.id for one in held if one.id not in kept]
