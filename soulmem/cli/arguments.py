"""Commands and options of the command line."""

from __future__ import annotations

import argparse
import locale
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from soulmem import __version__
from soulmem.cli.words import Words

LANGUAGES = ("en", "zh")


def choose_language(argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """The language of `--lang`, else of the system's settings: "en" or "zh"."""
    for index, word in enumerate(argv):
        value = word.partition("=")[2] if word.startswith("--lang=") else ""
        if word == "--lang" and index + 1 < len(argv):
            value = argv[index + 1]
        if value in LANGUAGES:
            return value
    return "zh" if _system_is_chinese(environ) else "en"


def _system_is_chinese(environ: Mapping[str, str]) -> bool:
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(name):
            return environ[name].lower().startswith("zh")
    if sys.platform == "win32":
        import ctypes

        return bool(ctypes.windll.kernel32.GetUserDefaultUILanguage() & 0x3FF == 0x04)
    return (locale.getlocale()[0] or "").lower().startswith(("zh", "chinese"))


_OF_THE_SIDECAR = {
    "serve": "soulmem.cli.serve",
    "demo": "soulmem.cli.demo",
    "mcp": "soulmem.cli.mcp",
    "doctor": "soulmem.cli.doctor",
    "model": "soulmem.cli.model",
}
_OF_FILES = {
    "import": "soulmem.cli.import_files",
    "export": "soulmem.cli.export",
    "restore": "soulmem.cli.restore",
}
_OF_MEMORIES = {
    "recall": "soulmem.cli.recall",
    "bin": "soulmem.cli.bin",
    "permanent": "soulmem.cli.permanent",
    "undo": "soulmem.cli.undo",
    "digest": "soulmem.cli.digest",
    "ask": "soulmem.cli.ask",
}
# The module of each command
COMMANDS = {**_OF_THE_SIDECAR, **_OF_FILES, **_OF_MEMORIES}


def build_parser(words: Words) -> argparse.ArgumentParser:
    """The parser of the command line, with help texts in the user's language."""
    parser = argparse.ArgumentParser(
        prog="soulmem", description=words("help"), epilog=words("help_more")
    )
    parser.add_argument("--version", action="version", version=__version__)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    made = {name: _add_command(commands, name, words) for name in COMMANDS}

    _add_place(made["serve"], words)
    made["serve"].add_argument("--host", metavar="H", help=words("help_host"))
    made["serve"].add_argument("--test-mode", action="store_true", help=words("help_test_mode"))

    _add_place(made["import"], words)
    made["import"].add_argument(
        "files", nargs="+", type=Path, metavar="FILE", help=words("help_files")
    )
    made["import"].add_argument("--soul", action="append", metavar="NAME", help=words("help_souls"))
    made["import"].add_argument("--dry-run", action="store_true", help=words("help_dry_run"))
    made["import"].add_argument(
        "--confirm-removal", action="store_true", help=words("help_confirm_removal")
    )

    _add_place(made["recall"], words)
    made["recall"].add_argument("text", help=words("help_text"))
    made["recall"].add_argument("--soul", required=True, metavar="NAME", help=words("help_soul"))
    made["recall"].add_argument("--chat", metavar="ID", help=words("help_chat"))

    _add_place(made["export"], words)
    made["export"].add_argument("--soul", required=True, metavar="NAME", help=words("help_soul"))
    made["export"].add_argument("--out", type=Path, metavar="FILE", help=words("help_out"))

    _add_place(made["restore"], words)
    made["restore"].add_argument(
        "file", nargs="?", type=Path, metavar="FILE", help=words("help_restored")
    )
    made["restore"].add_argument("--newest", action="store_true", help=words("help_newest"))

    _add_bin(made["bin"], words)
    _add_permanent(made["permanent"], words)

    _add_place(made["undo"], words)
    made["undo"].add_argument("--soul", required=True, metavar="NAME", help=words("help_soul"))
    what = made["undo"].add_mutually_exclusive_group()
    what.add_argument("--since", metavar="TIME", help=words("help_since"))
    what.add_argument("--change", metavar="ID", help=words("help_change"))
    what.add_argument("--job", metavar="ID", help=words("help_job"))

    _add_digest(made["digest"], words)

    _add_place(made["ask"], words)
    made["ask"].add_argument("instruction", help=words("help_instruction"))
    made["ask"].add_argument("--soul", required=True, metavar="NAME", help=words("help_soul"))

    _add_place(made["mcp"], words)
    made["mcp"].add_argument("--soul", required=True, metavar="NAME", help=words("help_soul"))
    made["mcp"].add_argument(
        "--actor",
        choices=("lead", "archivist", "both"),
        default="both",
        help=words("help_actor"),
    )

    _add_place(made["doctor"], words)
    _add_model(made["model"], words)
    for command in made.values():
        command.add_argument("--json", action="store_true", help=words("help_json"))
        command.add_argument("--lang", choices=LANGUAGES, help=words("help_lang"))
    return parser


def _add_command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser],
    name: str,
    words: Words,
) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=words(f"help_{name}"), description=words(f"about_{name}"))


def _add_bin(parser: argparse.ArgumentParser, words: Words) -> None:
    _add_place(parser, words)
    parser.add_argument(
        "action", choices=("list", "restore", "purge"), help=words("help_bin_action")
    )
    parser.add_argument("ids", nargs="*", metavar="ID", help=words("help_ids"))
    parser.add_argument("--soul", metavar="NAME", help=words("help_soul"))
    parser.add_argument("--all", action="store_true", help=words("help_all"))
    parser.add_argument("--yes", action="store_true", help=words("help_yes"))


def _add_permanent(parser: argparse.ArgumentParser, words: Words) -> None:
    _add_place(parser, words)
    actions = ("list", "add", "keep", "release", "delete")
    parser.add_argument("action", choices=actions, help=words("help_permanent_action"))
    parser.add_argument("what", nargs="?", metavar="TEXT|ID", help=words("help_what"))
    parser.add_argument("--soul", metavar="NAME", help=words("help_soul"))
    parser.add_argument("--yes", action="store_true", help=words("help_yes"))


def _add_digest(parser: argparse.ArgumentParser, words: Words) -> None:
    _add_place(parser, words)
    periods = ("hour", "day", "week", "month", "year", "chat")
    parser.add_argument("--soul", required=True, metavar="NAME", help=words("help_soul"))
    parser.add_argument("--period", choices=periods, default="day", help=words("help_period"))
    parser.add_argument("--from", dest="start", metavar="TIME", help=words("help_digest_from"))
    parser.add_argument("--to", dest="end", metavar="TIME", help=words("help_digest_to"))


def _add_model(parser: argparse.ArgumentParser, words: Words) -> None:
    _add_place(parser, words)
    way = parser.add_mutually_exclusive_group()
    way.add_argument(
        "--from-package",
        nargs="?",
        const="",
        metavar="FILE",
        help=words("help_from_package"),
    )
    way.add_argument("--hub", metavar="ADDRESS", help=words("help_hub"))


def _add_place(parser: argparse.ArgumentParser, words: Words) -> None:
    """Add the options that choose the sidecar or the data folder."""
    parser.add_argument("--data", metavar="DIR", help=words("help_data"))
    parser.add_argument("--port", type=int, metavar="N", help=words("help_port"))
    parser.add_argument("--config", type=Path, metavar="FILE", help=words("help_config"))
