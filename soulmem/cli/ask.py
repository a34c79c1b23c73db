"""`soulmem ask`: has the archivist carry out an instruction about a character's memory."""

from __future__ import annotations

import argparse
import json
from typing import Any

from soulmem.cli.jobs import job_result
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, sidecar
from soulmem.cli.souls import known_soul
from soulmem.cli.words import Words

_SHOWN = 160  # characters of arguments and results


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Ask, wait for the end, show what was done. Ctrl-C cancels; what is done stays and can be undone."""
    with sidecar(args, load_settings(args)) as client:
        soul = known_soul(client, args.soul)
        arguments = {"instruction": args.instruction}
        body = {"kind": "assistant", "soul": soul["id"], "arguments": arguments}
        job, result = job_result(client, body, words, screen)
    screen.result(result)
    for did in result["did"]:
        failed = did["result"].get("error") is not None
        line = words(
            "ask_did",
            tool=did["tool"],
            arguments=_shortened(did["arguments"]),
            result=did["result"]["message"] if failed else _shortened(did["result"]),
        )
        screen.line(line, "yellow" if failed else "dim", indent="  ", first="• ")
    screen.line(result["said"])
    screen.line(words("ask_undo", calls=result["calls"], job=job), "dim")
    return 0


def _shortened(value: Any) -> str:
    """A value as JSON on one line, cut where it is long."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
