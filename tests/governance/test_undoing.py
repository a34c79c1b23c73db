"""Undo restores earlier values, except where the user changed them later."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.audit import Action, Actor, AuditEntry
from soulmem.domain.ids import SoulId
from soulmem.governance.undoing import is_undoable, reversal

NOON = datetime(2026, 1, 1, 12, tzinfo=timezone.utc)
State = dict[str, dict[str, Any]]

steps = st.lists(
    st.tuples(
        st.sampled_from([Actor.USER, Actor.ARCHIVIST, Actor.ENGINE]),
        st.sampled_from(["m1", "m2"]),
        st.dictionaries(
            st.sampled_from(["text", "tags", "importance"]),
            st.integers(0, 5),
            min_size=1,
        ),
    ),
    max_size=12,
)


def entry(number: int, actor: Actor, target: str, before: Any, after: Any) -> AuditEntry:
    index = NOON + timedelta(minutes=number)
    return AuditEntry(
        f"c{number:04}",
        SoulId("s1"),
        index,
        actor,
        Action.CHANGE,
        target,
        before,
        after,
    )


def played(
    script: list[tuple[Actor, str, dict[str, int]]],
) -> tuple[State, list[AuditEntry]]:
    """The end of a series of changes, and its entries, the oldest first."""
    state: State = {m: {"text": -1, "tags": -1, "importance": -1} for m in ("m1", "m2")}
    entries = []
    for number, (actor, target, values) in enumerate(script):
        values = {name: value for name, value in values.items() if state[target][name] != value}
        before = {name: state[target][name] for name in values}
        state[target] |= values
        entries.append(entry(number, actor, target, before, values))
    return state, entries


@given(steps, st.integers(0, 12))
def test_all_since_a_moment(script: list[tuple[Actor, str, dict[str, int]]], start: int) -> None:
    """Each field ends as the user last left it since, or as it was at that moment."""
    state, entries = played(script)
    at_start, _ = played(script[:start])
    late = entries[start:]
    back = reversal(late[::-1], {e.id for e in late if is_undoable(e)})

    for target, values in back.memories.items():
        state[target] |= values
    wanted = at_start
    for change in late:
        if change.actor is Actor.USER:
            wanted[change.target] |= dict(change.after or {})
    assert state == wanted


@given(steps)
def test_one_change(script: list[tuple[Actor, str, dict[str, int]]]) -> None:
    """One automatic change alone: its fields go back, but for those the user touched after it."""
    _, entries = played(script)
    for number, change in enumerate(entries):
        if not is_undoable(change):
            continue
        later = entries[number:]
        result = reversal(later[::-1], {change.id})
        mine = {
            name
            for e in later[1:]
            if e.actor is Actor.USER and e.target == change.target
            for name in (e.after or {})
        }
        back = {name: value for name, value in (change.before or {}).items() if name not in mine}
        assert result.memories.get(change.target, {}) == back
        assert {name for _, name in result.skipped} == set(change.before or {}) & mine


def test_what_was_made_goes_unless_the_user_took_it_up() -> None:
    made = AuditEntry(
        "c1", SoulId("s1"), NOON, Actor.LEAD, Action.CREATE, "m1", None, {"text": "a"}
    )
    other = AuditEntry(
        "c2", SoulId("s1"), NOON, Actor.LEAD, Action.CREATE, "m2", None, {"text": "b"}
    )
    locked = entry(3, Actor.USER, "m1", {"locked": False}, {"locked": True})

    back = reversal([locked, other, made], {"c1", "c2"})

    assert back.created == {"m2": "c2"}
    assert back.skipped == [("m1", "state")]


def test_edges_go_back_field_by_field() -> None:
    first = entry(
        1,
        Actor.ENGINE,
        "t1",
        {"edges": {"l1": {"strength": 0.1}}},
        {"edges": {"l1": {"strength": 0.2}}},
    )
    second = entry(
        2,
        Actor.ENGINE,
        "t2",
        {"edges": {"l1": {"uses": 3, "strength": 0.2}, "l2": None}},
        {"edges": {}},
    )
    mine = entry(
        3,
        Actor.USER,
        "m1",
        {"edges": {"l3": {"strength": 0.5}}},
        {"edges": {"l3": {"strength": 1.0}}},
    )
    third = entry(
        0,
        Actor.ENGINE,
        "t0",
        {"edges": {"l3": {"strength": 0.4}}},
        {"edges": {"l3": {"strength": 0.5}}},
    )

    back = reversal([mine, second, first, third], {first.id, second.id, third.id})

    assert back.edges == {"l1": {"strength": 0.1, "uses": 3}, "l2": None}
    assert back.skipped == [("l3", "edges")]


def test_only_automatic_changes_are_undone_and_feedback_by_name() -> None:
    def of(actor: Actor, action: Action) -> AuditEntry:
        values = {"text": "tea"}
        return AuditEntry("c1", SoulId("s1"), NOON, actor, action, "m1", values, values)

    changes = {
        Action.CREATE,
        Action.CHANGE,
        Action.BIN,
        Action.RESTORE,
        Action.LEARN,
        Action.FEEDBACK,
    }
    for action in Action:
        assert is_undoable(of(Actor.ENGINE, action)) is (action in changes)
        assert not is_undoable(of(Actor.USER, action))
        assert is_undoable(of(Actor.USER, action), by_name=True) is (action is Action.FEEDBACK)


def test_undoing_is_no_taking_up() -> None:
    """What a tool made and the user only undid a rewording of goes all the same."""
    made = AuditEntry(
        "c1", SoulId("s1"), NOON, Actor.LEAD, Action.CREATE, "m1", None, {"text": "a"}
    )
    undone = AuditEntry(
        "c3",
        SoulId("s1"),
        NOON,
        Actor.USER,
        Action.UNDO,
        "m1",
        {"text": "b"},
        {"text": "a"},
    )

    assert reversal([undone, made], {"c1"}).created == {"m1": "c1"}
