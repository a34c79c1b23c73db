"""Ctrl-C before a command has begun ends it like any other: with 130 and without a traceback."""

from __future__ import annotations

import runpy
import sys
from types import ModuleType
from typing import NoReturn

import pytest

from soulmem import cli


def stopped(*_: object) -> NoReturn:
    raise KeyboardInterrupt


def test_while_the_code_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("soulmem.cli")
    module.__getattr__ = stopped  # type: ignore[method-assign]
    monkeypatch.setitem(sys.modules, "soulmem.cli", module)
    with pytest.raises(SystemExit) as ended:
        runpy.run_module("soulmem", run_name="__main__")
    assert ended.value.code == 130


def test_while_the_command_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cli, "import_module", stopped)
    assert cli.main(["doctor", "--lang", "en"]) == 130
    assert "Stopped." in capsys.readouterr().err
