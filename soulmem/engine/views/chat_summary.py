"""Summaries of a chat: the one for this recall, their chain, and drafts of the context window.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from soulmem.domain.derivations import Derivation, Work
from soulmem.domain.ids import ChatId, MemoryId
from soulmem.domain.memories import Memory, MemoryKind, MemoryState
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.views.doubted import is_in_doubt
from soulmem.graph.arcs import MEMORY_KINDS

_ACTION = MEMORY_KINDS.index(MemoryKind.ACTION)


@compute_only
def drafts_within_window(mind: Mind, chat: ChatId, inside: Collection[int]) -> list[int]:
    """Rows of drafts whose evidence lies in the context window only, except actions.

    `inside` are the rows of the window: the last messages of the chat. A habit may be
    shown beside its evidence, because it does not repeat it.
    """
    if not mind.derivations or not inside:
        return []
    window = set(mind.ids_at(inside))
    rows: list[int] = []
    for key in _cited_only_from(mind, chat, window):
        row = mind.row(MemoryId(key))
        if row is not None and mind.columns.kind[row] != _ACTION:
            rows.append(row)
    return rows


def _cited_only_from(mind: Mind, chat: ChatId, window: set[MemoryId]) -> set[str]:
    """Ids of drafts of the chat that cite episodes of the window only."""
    keys: set[str] = set()
    for derivation in mind.derivations.of_chat(chat):
        if derivation.read[-1] in window:
            for product in derivation.products:
                if window.issuperset(product.cited or derivation.read):
                    keys.add(product.id)
    return {key for key in keys if window.issuperset(mind.derivations.cited(key))}


@compute_only
def summary_before(mind: Mind, chat: ChatId | None, inside: Sequence[int]) -> Memory | None:
    """The newest usable summary of the chat that ends before the rows `inside`, its last ones."""
    if chat is None or not mind.derivations:
        return None
    branch = mind.branches.branch(chat)
    if branch is None:
        return None
    newest = newest_summary(mind, branch.chat, len(branch.order) - len(inside))
    if newest is None or not newest.products:
        return None
    memory = mind.memories.get(MemoryId(newest.products[0].id))
    if memory is None or memory.state is not MemoryState.ACTIVE:
        return None
    return None if is_in_doubt(mind, memory.id) else memory


@compute_only
def newest_summary(mind: Mind, chat: ChatId, before: int | None = None) -> Derivation | None:
    """The last summary in the chat's chain; with `before`, of those that end by that episode index."""
    branch = mind.branches.branch(chat)
    if branch is None:
        return None
    derivations = mind.derivations.of_chat(chat)
    summaries = [d for d in derivations if d.work is Work.SUMMARY]
    if not summaries:
        return None
    chain, _ = summary_chain(branch.order, summaries)
    end, newest = 0, None
    for summary in chain:
        end += len(summary.read)
        if before is None or end <= before:
            newest = summary
    return newest


def summary_chain(
    order: Sequence[MemoryId], summaries: Sequence[Derivation]
) -> tuple[list[Derivation], list[str]]:
    """The chain of summaries in which each continues the one before, and the ids of the others.

    `order` are the episodes of the chat. Where several continue, the longest one counts.
    """
    by_former: dict[str | None, list[Derivation]] = {}
    for summary in summaries:
        by_former.setdefault(summary.after, []).append(summary)
    chain: list[Derivation] = []
    end = 0
    while True:
        former = chain[-1].id if chain else None
        fitting = [
            summary
            for summary in by_former.get(former, ())
            if order[end : end + len(summary.read)] == summary.read
        ]
        if not fitting:
            break
        chain.append(max(fitting, key=lambda summary: (len(summary.read), summary.id)))
        end += len(chain[-1].read)
    chained = {summary.id for summary in chain}
    return chain, [summary.id for summary in summaries if summary.id not in chained]
