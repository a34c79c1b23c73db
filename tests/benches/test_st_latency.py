"""Does the bench in SillyTavern read the browser's record of requests as it says?"""

from __future__ import annotations

from dataclasses import replace

from tests.bench.st_latency import added, turn_of

HOST = "http://127.0.0.1:1/api"
ASKED = (f"{HOST}/backends/chat-completions/generate", 400.0, 480.0)
SAVED = (f"{HOST}/chats/save", 100.0, 150.0)
OURS = f"{HOST}/plugins/soulmem"


def test_the_parts_of_a_turn_are_those_before_the_model_is_asked() -> None:
    turn = turn_of(
        [
            (f"{OURS}/activity", 10.0, 30.0),
            (f"{OURS}/chats/c1", 90.0, 120.0),
            SAVED,
            (f"{OURS}/recall", 130.0, 200.0),
            (f"{HOST}/tokenizers/openai/count", 60.0, 70.0),
            (f"{HOST}/tokenizers/openai/count", 210.0, 220.0),
            (f"{HOST}/tokenizers/openai/count", 230.0, 250.0),
            ASKED,
            (f"{OURS}/deletions?soul=s1", 420.0, 430.0),
        ],
        with_soulmem=True,
    )
    assert (turn.until_asked, turn.before, turn.requests) == (400.0, 90.0, 2)
    assert (turn.sync, turn.recall, turn.waiting) == (30.0, 70.0, 50.0)
    assert turn.counting == 40.0


def test_one_request_for_both_is_a_recall_that_may_end_before_the_chat_is_saved() -> None:
    both = (f"{OURS}/chats/c1/recall", 40.0, 140.0)
    turn = turn_of([both, SAVED, ASKED], with_soulmem=True)
    assert (turn.sync, turn.recall, turn.waiting, turn.requests) == (0, 100.0, 0, 1)


def test_what_is_added_is_told_whichever_of_a_pair_came_first() -> None:
    off = turn_of([SAVED, ASKED], with_soulmem=False)
    slow = replace(off, with_soulmem=True, until_asked=460.0)
    assert added([slow, off, off, slow]) == [60.0, 60.0]
