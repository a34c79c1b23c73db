"""`soulmem serve`: the sidecar itself, until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys

from soulmem import __version__
from soulmem.cli.client import Client, Refused, Unreachable
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings
from soulmem.cli.words import Words
from soulmem.config import Settings
from soulmem.config.settings import is_loopback
from soulmem.config.token import with_token
from soulmem.server.run import PortTaken, serve


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Serve until a signal comes."""
    settings = with_token(load_settings(args))
    logging.basicConfig(
        level=settings.log.level.upper(),
        stream=sys.stderr,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    from soulmem.bootstrap import (
        build,
    )  # after a wrong setting was told, which should not have to wait for this

    _, app = build(settings, test_mode=args.test_mode)

    def ready(host: str, port: int) -> None:
        _tell(settings, Client(host, port).url, words, screen, test_mode=args.test_mode)

    try:
        asyncio.run(serve(app, settings.server.host, settings.server.port, ready=ready))
    except PortTaken as error:
        if not _is_ours(settings):
            raise
        screen.failure(words("already_running", port=settings.server.port), error)
        return 1
    screen.note(words("served"))
    return 0


def _tell(settings: Settings, url: str, words: Words, screen: Screen, *, test_mode: bool) -> None:
    """Say where it listens."""
    screen.line(words("listening", url=url, data=settings.data))
    if not is_loopback(settings.server.host):
        screen.line(words("listening_wide", file=settings.data / "token"), "yellow")
    if test_mode:
        screen.line(words("test_mode"), "yellow")
    told = {"url": url, "data": str(settings.data), "version": __version__, "pid": os.getpid()}
    screen.result(told, indent=None)  # one line: whoever started us reads on while we run


def _is_ours(settings: Settings) -> bool:
    """Whether what holds the port is a SoulMem already."""
    try:
        Client(settings.server.host, settings.server.port).health()
    except Refused:
        return True
    except Unreachable:
        return False
    return True
