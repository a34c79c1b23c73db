"""The next call to a language model that may be made in a chat, with the passage that it reads.

Compute thread only.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass
from datetime import datetime

from soulmem.consolidation.short_term import MarkParams
from soulmem.domain.derivations import Work
from soulmem.engine.consolidation.backlog import BacklogParams, is_backlog
from soulmem.engine.consolidation.plan import ChatPlan, PlannedCall, chat_plan
from soulmem.engine.consolidation.stretches import EpisodePassage, episode_passage
from soulmem.engine.mind.mind import Mind
from soulmem.engine.runtime.worker import compute_only
from soulmem.engine.world.message_log import ChatLog


@dataclass(frozen=True, slots=True)
class CallLimits:
    """Which of the planned calls may be made at this time.

    `idle_since` is the time of an idle round, in which a backlog waits until the user accepts its
    price by starting the job; None for a job.
    """

    marks: MarkParams
    backlog: BacklogParams
    context_tokens: int  # of the language model
    idle_since: datetime | None
    failed: Set[Work]  # kinds of work that failed in this round
    awaited: Mapping[Work, int]  # deferred work: messages that the chat needs before

    def allows(self, mind: Mind, call: PlannedCall, slid: int) -> bool:
        """Whether the call may be made, `slid` messages having left short-term memory."""
        if call.work in self.failed or slid < self.awaited.get(call.work, 0):
            return False
        if self.idle_since is None:
            return True
        return not is_backlog(mind, call, self.idle_since, self.backlog)


@dataclass(frozen=True, slots=True)
class NextCall:
    """The plan of a chat, and its first call that may be made.

    The passage is None if there is no such call, or if the chat no longer holds what the call reads.
    """

    plan: ChatPlan
    call: PlannedCall | None = None
    passage: EpisodePassage | None = None


@compute_only
def next_call(
    mind: Mind, log: ChatLog, limits: CallLimits, plan: ChatPlan | None = None
) -> NextCall:
    """The next call of the chat by `plan`, or by a new plan.

    None is chosen by a new plan with outdated summaries: those have to be removed first.
    """
    if plan is None:
        plan = chat_plan(mind, log, limits.marks)
        if plan.outdated:
            return NextCall(plan)
    for call in plan.due:
        if limits.allows(mind, call, plan.slid):
            passage = None
            if is_current(mind, call):
                passage = episode_passage(mind, log, call, limits.context_tokens)
            return NextCall(plan, call, passage)
    return NextCall(plan)


@compute_only
def is_current(mind: Mind, call: PlannedCall) -> bool:
    """Whether the chat still holds all that the call reads, and the summary that it continues exists."""
    if call.after is not None and mind.derivations.get(call.after) is None:
        return False
    return mind.branches.holds(call.chat, call.read)
