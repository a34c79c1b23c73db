"""Entry point of `soulmem`: chooses command and language, and reports errors."""

from __future__ import annotations

import atexit
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from soulmem.adapters.disk_files import create_private_files
from soulmem.cli.arguments import COMMANDS, build_parser, choose_language
from soulmem.cli.screen import Screen
from soulmem.cli.words import Words
from soulmem.domain.errors import SoulMemError

STOPPED = 130  # what a shell expects after Ctrl-C


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. Exit codes: 0 done, 1 failed with a message, 2 wrong usage, 130 stopped."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A console without Chinese characters shows ? instead of failing.
            stream.reconfigure(errors="replace")
    create_private_files()
    # Commands print their errors themselves.
    logging.getLogger("soulmem").addHandler(logging.NullHandler())
    words = Words(choose_language(arguments, os.environ))
    args = build_parser(words).parse_args(arguments)
    screen = Screen(sys.stdout, sys.stderr, as_json=args.json)
    # Must be set before numpy is imported. Our matrix products are too small for several threads: beside a
    # running language model, choosing among sixty memories took 5 ms instead of 0.4 ms.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        command = import_module(COMMANDS[args.command])  # only imports what it needs
        return int(command.run(args, words, screen))
    except SoulMemError as error:
        screen.failure(words("failed", message=error.message), error)
        return 1
    except KeyboardInterrupt:
        screen.note(words("stopped"))
        return STOPPED
    except BrokenPipeError:  # the reader of the pipe has stopped reading
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def run_and_leave() -> NoReturn:
    """Run one command, then end the process without taking Python apart.

    A thread of the store may still be in Python, to say that its last work is done. Python ends such a thread
    while it takes itself apart, which aborts the process, though everything is saved.
    """
    code: object = 1

    def leave() -> None:
        logging.shutdown()
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):
                stream.flush()
        os._exit(code if isinstance(code, int) else int(code is not None))

    # What is registered first comes last: threads of Python have ended by then, and all others have tidied up.
    atexit.register(leave)
    try:
        code = main()
    except SystemExit as ended:
        code = ended.code
        raise
    sys.exit(code)
