"""Does a response carry what a user is told as code and values, beside the English text?"""

from __future__ import annotations

import json
from datetime import datetime, timezone

import msgspec

from soulmem.domain.change_reasons import reason_of
from soulmem.domain.errors import StoreFull
from soulmem.domain.ids import SoulId
from soulmem.domain.phrases import Phrase, phrase
from soulmem.engine.runtime.jobs import JobState, JobView
from soulmem.server.common_types import phrase_response
from soulmem.server.error_responses import problem
from soulmem.server.resources.jobs import job_response

FULL = phrase("store_full", "the disk of {place} is full{more}", place="/d", more="")


def test_a_phrase_within_another_is_told_as_a_phrase() -> None:
    outer = phrase("outer", "{n} times: {reason}", n=2, reason=FULL)
    assert str(outer) == "2 times: the disk of /d is full"
    assert msgspec.to_builtins(phrase_response(outer)) == {
        "code": "outer",
        "text": "2 times: the disk of /d is full",
        "values": {
            "n": 2,
            "reason": {
                "code": "store_full",
                "text": "the disk of /d is full",
                "values": {"place": "/d", "more": ""},
            },
        },
    }


def test_a_plain_text_has_no_phrase() -> None:
    assert phrase_response("as it is") is msgspec.UNSET
    assert phrase_response(None) is msgspec.UNSET


def test_an_error_and_a_failed_job_carry_their_phrase() -> None:
    body = json.loads(problem(StoreFull(FULL)).text or "")
    assert (body["message"], body["phrase"]["code"]) == (str(FULL), "store_full")
    view = JobView(
        "j1",
        "import",
        SoulId("s1"),
        JobState.FAILED,
        datetime(2026, 3, 1, tzinfo=timezone.utc),
        error=FULL,
    )
    told = json.loads(msgspec.json.encode(job_response(view)))
    assert (told["error"], told["error_phrase"]["code"]) == (str(FULL), "store_full")


def test_a_stored_reason_is_known_again_and_one_in_own_words_stays() -> None:
    replay = reason_of("replay")
    assert isinstance(replay, Phrase)
    assert replay.code == "reason_replay"
    assert reason_of("she asked me to") == "she asked me to"
