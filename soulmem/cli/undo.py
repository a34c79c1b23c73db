"""`soulmem undo`: shows automatic changes and reverts them."""

from __future__ import annotations

import argparse
import re
from datetime import datetime, timedelta, timezone
from urllib.parse import urlencode

from soulmem.cli.client import Client
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, sidecar
from soulmem.cli.souls import known_soul
from soulmem.cli.words import Words
from soulmem.domain.calendar import bounded, from_local, local, shifted
from soulmem.domain.errors import Unprocessable

_SHOWN = 20  # latest changes
_AGO = re.compile(r"(\d{1,6})\s*([mhd])\Z")
_UNITS = {"m": 1, "h": 60, "d": 1440}  # minutes


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Revert the chosen changes; without a choice, show the latest changes with their ids."""
    since = None if args.since is None else _moment(args.since, words)
    with sidecar(args, load_settings(args)) as client:
        soul = known_soul(client, args.soul)
        if since is None and args.change is None and args.job is None:
            return _show(client, soul["id"], words, screen)
        named = {"since": since, "change": args.change, "job": args.job}
        body = {
            "soul": soul["id"],
            **{key: value for key, value in named.items() if value is not None},
        }
        undone = client.ask("POST", "/undo", body)
    screen.result(undone)
    screen.line(
        words(
            "undone",
            changes=len(undone["changes"]),
            memories=len(undone["memories"]),
            edges=undone["edges"],
        ),
        "green" if undone["changes"] else "dim",
    )
    for skipped in undone["skipped"]:
        screen.line(
            words("undo_skipped", target=skipped["target"], field=skipped["field"]),
            "yellow",
        )
    return 0


def _show(client: Client, soul: str, words: Words, screen: Screen) -> int:
    page = client.ask("GET", "/audit?" + urlencode({"soul": soul, "limit": _SHOWN}))
    for entry in page["audit"]:
        moment = local(datetime.fromisoformat(entry["at"].replace("Z", "+00:00")))
        what = {
            "id": entry["id"],
            "at": f"{moment:%Y-%m-%d %H:%M}",
            "target": entry["target"],
        }
        who = words(f"actor_{entry['actor']}")
        screen.line(
            words(
                "change_item",
                who=who,
                action=words(f"action_{entry['action']}"),
                **what,
            ),
            indent="  ",
        )
    screen.line(words("undo_how") if page["audit"] else words("nothing_changed"), "dim")
    screen.result(page)
    return 0


def _moment(text: str, words: Words) -> str:
    """The time in ISO 8601. `text` is such a time (local if it has no zone), or a time ago like 90m, 2h or 3d."""
    ago = _AGO.match(text.strip())
    if ago is not None:
        back = timedelta(minutes=int(ago[1]) * _UNITS[ago[2]])
        return bounded(shifted(datetime.now(timezone.utc), -back)).isoformat()
    try:
        moment = datetime.fromisoformat(text.strip().replace("Z", "+00:00"))
    except ValueError as error:
        raise Unprocessable(words("no_moment", text=text), field="--since") from error
    return (from_local(moment) if moment.tzinfo is None else moment).isoformat()
