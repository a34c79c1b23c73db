"""From a SillyTavern without the extension to the first recalled memory: each action as the README says."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import URLError

import pytest

from .child import Child, ask
from .conftest import Tavern, compiled
from .data_folder import EXTENSION, SHIPPED, DataFolder
from .mock_llm import MockLlm
from .needs import Tools, cache_folder
from .page import TavernPage
from .ports import free_port
from .sidecar import REPOSITORY
from .sillytavern import SillyTavern, package_folder
from .small_talk import small_talk
from .stories import KEY, KEY_ZH, Fact, chat

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

MOST_ACTIONS = 7
NEEDED = (*SHIPPED, ".ci", "soulmem", "start.py", "pyproject.toml")
# A finished installation without its gigabyte: the Python of this test, under the name that start.py looks for.
PYTHON = f"""#!/bin/sh
PYTHONPATH="$(dirname "$0")/../.." exec {sys.executable} "$@"
"""
STAMP = "import installer as i; i.write_stamp(i.Installed(i.current_key()))"


@dataclass(frozen=True, slots=True)
class Visitor:
    """A new user, and where the count stands in the README of the language."""

    locale: str
    name: str
    fact: Fact
    readme: str
    heading: str


ENGLISH = Visitor("en", "Mira", KEY, "README.md", "## Seven actions")
CHINESE = Visitor("zh-cn", "米拉", KEY_ZH, "README.zh.md", "## 七个动作")


@dataclass(slots=True)
class NewUser:
    """Somebody who plays in SillyTavern already, and what was done so far."""

    tab: Any
    folder: Path  # of SillyTavern's data
    done: list[str] = field(default_factory=list)

    def run(self, *command: str) -> None:
        """Type a command and wait for it."""
        self.done.append(" ".join(command))
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)

    def start(self, *command: str) -> Child:
        """Type a command that goes on until it is stopped."""
        self.done.append(" ".join(command))
        env = {"SOULMEM_EMBEDDER_MODEL": "fallback", "OMP_NUM_THREADS": "1"}
        return Child(command, self.folder, self.folder / "start.log", env)

    def click(self, selector: str) -> None:
        self.done.append(f"click {selector}")
        self.tab.locator(selector).click()

    def type(self, selector: str, text: str) -> None:
        self.done.append(f"type into {selector}")
        self.tab.locator(selector).fill(text)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This working tree as the repository that a user clones."""
    folder = tmp_path_factory.mktemp("repository")
    ignore = shutil.ignore_patterns("__pycache__", "node_modules")
    for name in NEEDED:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=ignore)
        else:
            shutil.copy2(source, folder / name)
    who = ("-c", "user.name=x", "-c", "user.email=x@example.org")
    for arguments in (("init", "-q"), ("add", "-A"), (*who, "commit", "-qm", "All")):
        subprocess.run(("git", *arguments), cwd=folder, check=True)
    return folder


@pytest.fixture
def bare(
    tools: Tools,
    version: str,
    llm: MockLlm,
    tavern: Tavern,  # SillyTavern is unpacked and compiled
    tmp_path: Path,
) -> Iterator[Tavern]:
    """A SillyTavern as it is before, with its language model connected and server plugins off."""
    package = package_folder(version, cache_folder())
    data = DataFolder(tmp_path, package, llm.url, plugins=False, extension=False)
    server = SillyTavern(package, tmp_path, free_port(), compiled(version), tools, {})
    server.wait()
    yield Tavern(server, data)
    server.stop()


def prepare_installation(clone: Path) -> None:
    """What the first run of start.py leaves, so that the next one only starts."""
    python = clone / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(PYTHON, "utf-8")
    python.chmod(0o755)
    subprocess.run((sys.executable, "-c", STAMP), cwd=clone / ".ci", check=True)


def steps_in(visitor: Visitor) -> int:
    """How many numbered steps stand below the heading."""
    text = (REPOSITORY / visitor.readme).read_text("utf-8")
    section = text.partition(f"\n{visitor.heading}")[2].partition("\n## ")[0]
    return len(re.findall(r"^\d\. ", section, re.MULTILINE))


def is_ready(port: int) -> bool:
    try:
        return bool(ask(f"http://127.0.0.1:{port}/v1/health")["status"] == "ok")
    except (URLError, OSError):
        return False


@pytest.mark.parametrize(
    "visitor",
    [ENGLISH, pytest.param(CHINESE, marks=pytest.mark.nightly)],
    ids=["en", "zh"],
)
def test_the_first_memory_comes_after_the_actions_that_the_readme_counts(
    bare: Tavern,
    repository: Path,
    llm: MockLlm,
    browser: BrowserContext,
    tmp_path: Path,
    visitor: Visitor,
) -> None:
    port = free_port()  # the usual one may be taken on this machine
    llm.forget()
    # The longest wait: how soon a busy machine answers is not what is counted here.
    url = f"http://127.0.0.1:{port}"
    bare.data.write_settings({"url": url, "time_budget": 10_000})
    exchanges = [visitor.fact.exchange, *small_talk(visitor.locale[:2], 18)]
    lines = chat(visitor.name, exchanges)
    bare.data.add_character("known", visitor.name, first="Hello.", lines=lines)
    page = TavernPage(browser, bare.server.url, llm)
    user = NewUser(page.tab, tmp_path)

    clone = f"data/default-user/extensions/{EXTENSION}"
    user.run("git", "clone", str(repository), clone)
    prepare_installation(tmp_path / clone)
    data = str(tmp_path / "memories")
    sidecar = user.start(sys.executable, f"{clone}/start.py", "--port", str(port), "--data", data)
    try:
        sidecar.wait_for(lambda: is_ready(port), 60, "the sidecar")
        user.done.append("load the page")
        page.load(visitor.locale)
        page.wait_for_dot("ok")
        page.screenshot(f"new-user-ready-{visitor.locale}")
        user.click(".welcomePanel .recentChat")
        page.tab.locator("#chat .last_mes").wait_for()
        page.screenshot(f"new-user-chat-{visitor.locale}")
        user.type("#send_textarea", visitor.fact.question)
        user.click("#send_but")
        page.tab.locator("#soulmem_flash").wait_for()
        page.screenshot(f"new-user-reply-{visitor.locale}")
        user.click("#chat .last_mes .soulmem_recalled_button")
        memory = page.tab.locator(
            "dialog.popup[open] .soulmem_recalled_text", has_text=visitor.fact.words
        )
        memory.first.wait_for()
        page.screenshot(f"new-user-memory-{visitor.locale}")
    finally:
        page.tab.close()
        sidecar.stop()
    assert len(user.done) <= MOST_ACTIONS, user.done
    assert len(user.done) == steps_in(visitor)
