"""`soulmem digest`: sums up the days, weeks, months or years of a character, and prints what it kept."""

from __future__ import annotations

import argparse
from datetime import datetime
from typing import Any

from soulmem.cli.jobs import job_result
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, sidecar
from soulmem.cli.souls import known_soul
from soulmem.cli.words import Words
from soulmem.domain.calendar import from_local
from soulmem.domain.errors import Unprocessable


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Make what is missing of that length within the span; what is there already stays."""
    arguments = {"period": args.period}
    for key, text in (("from", args.start), ("to", args.end)):
        if text is not None:
            arguments[key] = _moment(text, words)
    with sidecar(args, load_settings(args)) as client:
        soul = known_soul(client, args.soul)
        body = {"kind": "digest", "soul": soul["id"], "arguments": arguments}
        job, result = job_result(client, body, words, screen)
        digests: list[dict[str, Any]] = [
            client.ask("GET", f"/memories/{key}") for key in result["digests"]
        ]
    screen.result({"job": job, "digests": digests})
    for digest in digests:
        head, *lines = digest["text"].split("\n")
        screen.rule(head)
        for line in lines:
            screen.line(line)
    made = words("digest_done", n=len(digests), job=job)
    screen.line(made if digests else words("digest_none"), "dim")
    return 0


def _moment(text: str, words: Words) -> str:
    """A day or a moment in ISO 8601, with the zone of this computer where it has none."""
    try:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError as error:
        raise Unprocessable(words("digest_time", text=text), field="TIME") from error
    return (moment if moment.tzinfo else from_local(moment)).isoformat()
