"""The command `soulmem`: which command is meant, in which language, and how it ends."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from soulmem.cli.arguments import COMMANDS, build_parser
from soulmem.cli.language import choose_language
from soulmem.cli.screen import Screen
from soulmem.cli.words import Words
from soulmem.domain.errors import SoulMemError

STOPPED = 130  # what a shell expects after Ctrl-C


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; its exit code: 0 done, 1 not done and said why, 2 wrong usage, 130 stopped."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(
                errors="replace"
            )  # a console without Chinese shows ? instead of failing
    logging.getLogger("soulmem").addHandler(
        logging.NullHandler()
    )  # a command tells its errors itself
    words = Words(choose_language(arguments, os.environ))
    args = build_parser(words).parse_args(arguments)
    screen = Screen(sys.stdout, sys.stderr, as_json=args.json)
    # Products of our size gain nothing by several threads, which spin: on a machine where a language model
    # computes, choosing among sixty memories took 5 ms instead of 0.4. Before the first import of numpy.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    command = import_module(
        COMMANDS[args.command]
    )  # each command pays only for its own imports
    try:
        return int(command.run(args, words, screen))
    except SoulMemError as error:
        screen.failure(words("failed", message=error.message), error)
        return 1
    except KeyboardInterrupt:
        screen.note(words("stopped"))
        return STOPPED
    except BrokenPipeError:  # the reader of a pipe had enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
