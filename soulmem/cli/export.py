"""`soulmem export`: writes a character's whole memory into one file."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import load_settings, sidecar
from soulmem.cli.souls import known_soul
from soulmem.cli.words import Words
from soulmem.domain.errors import Unprocessable

_SECONDS = 600.0  # timeout; a large soul takes long


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Write the complete file or none. An existing file is not replaced."""
    with sidecar(args, load_settings(args)) as client:
        soul = known_soul(client, args.soul)
        path = args.out or Path(f"soulmem-{soul['id']}.jsonl")
        if path.exists():
            raise Unprocessable(words("file_is_there", file=path), field="--out")
        aside = path.with_name(path.name + ".part")
        try:
            with aside.open("xb") as file:
                lines = client.save(f"/export?soul={soul['id']}", file, seconds=_SECONDS)
                file.flush()
                os.fsync(file.fileno())
            aside.rename(path)
        except FileExistsError as error:
            raise Unprocessable(words("file_is_there", file=aside), field="--out") from error
        except OSError as error:
            aside.unlink(missing_ok=True)
            raise Unprocessable(
                words("file_unwritten", file=path, reason=error.strerror or error),
                field="--out",
            ) from error
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
    screen.result({"soul": soul["id"], "file": str(path), "lines": lines})
    screen.line(words("exported", name=soul["name"], file=path, lines=lines), "green")
    return 0
