"""Do pip's failures become words with a remedy, in the user's language?"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import installer
import messages
from messages import Trouble


@pytest.mark.parametrize(
    ("words", "english", "chinese"),
    [
        (
            "ERROR: Could not install packages: [Errno 28] No space left on device",
            "disk is full",
            "空间不足",
        ),
        (
            "OSError: [WinError 112] There is not enough space on the disk",
            "disk is full",
            "空间不足",
        ),
        (
            "OSError: [Errno 13] Permission denied: '/x'",
            "delete the folder .venv",
            "删除 .venv",
        ),
        (
            "HINT: This might have occurred since Windows Long Path support is not enabled",
            "short",
            "较短",
        ),
        (
            "ReadTimeoutError: HTTPSConnectionPool: Read timed out.",
            "HTTPS_PROXY",
            "HTTPS_PROXY",
        ),
        ("ERROR: No matching distribution found for torch==2.13.0", "64-bit", "64 位"),
        (
            "WARNING: Retrying after connection broken\nERROR: No matching distribution",
            "HTTPS_PROXY",
            "镜像",
        ),
        ("ERROR: something new", "something new", "something new"),
    ],
)
def test_every_failure_has_a_remedy(words: str, english: str, chinese: str) -> None:
    trouble = messages.explain(words)
    assert english in str(trouble)
    assert chinese in trouble.chinese


def test_a_registry_that_does_not_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The real pip, and a port on which nobody listens."""
    monkeypatch.setattr(installer, "PYTHON", Path(sys.executable))
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("PIP_NO_INDEX", "0")
    with pytest.raises(Trouble, match="registry cannot be reached"):
        installer.pip("--dry-run", "--retries", "1", "a-package-that-is-nowhere==1.0")


@pytest.mark.parametrize(
    ("environ", "chinese"),
    [
        ({"LANG": "zh_CN.UTF-8"}, True),
        ({"LANG": "zh_TW"}, True),
        ({"LANG": "en_US.UTF-8"}, False),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, False),
        ({"LC_ALL": "", "LC_MESSAGES": "zh_CN", "LANG": "en_US"}, True),
    ],
)
def test_the_language_follows_the_locale(environ: dict[str, str], chinese: bool) -> None:
    assert messages.reads_chinese(environ) is chinese


def test_one_language_at_a_time(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    messages.say("hello", "你好")
    messages.tell(Trouble("broken", "坏了"))
    assert capsys.readouterr() == ("你好\n", "坏了\n")
