"""What all scenarios share: one SillyTavern, one sidecar, one browser; see README.md."""

from __future__ import annotations

import shutil
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.examples import is_long_run

from .axe import axe_script
from .child import PATIENCE
from .data_folder import EXTENSION, NOT_NEEDED, DataFolder, copy_repository
from .gate import Gate
from .memory_window import DESKTOP, MemoryWindow
from .mock_llm import MockLlm
from .needs import Tools, cache_folder, find_tools
from .page import TavernPage
from .ports import free_port
from .sharing import announce, installed, is_ours
from .sidecar import Sidecar
from .sillytavern import SillyTavern, install, package_folder

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext

DEFAULT_ST_VERSION = "1.19.0"
FAILED = pytest.StashKey[bool]()  # of a test
FOREIGN = "tavern.example"  # a name that is not this machine's, though it leads there
CHROMIUM_FLAGS = (
    f"--host-resolver-rules=MAP {FOREIGN} 127.0.0.1",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--st-version",
        default=DEFAULT_ST_VERSION,
        help="SillyTavern release for tests/e2e",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    ours = [item for item in items if Path(__file__).parent in item.path.parents]
    for item in ours:
        item.add_marker(pytest.mark.e2e)
        # Only the test itself: the first one would pay for installing SillyTavern.
        item.add_marker(pytest.mark.timeout(180 * PATIENCE, func_only=True))
    # Slow files first, so that runs beside each other end together; last those with much left to do in Idle.
    slow_files = {item.path for item in ours if item.get_closest_marker("slow")}
    large_files = {item.path for item in ours if item.get_closest_marker("large")}
    ours.sort(
        key=lambda item: (
            item.path in large_files,
            item.path not in slow_files,
            item.path,
            is_chinese(item),
        )
    )
    items[:] = [item for item in items if item not in set(ours)] + ours


def pytest_collection_finish(session: pytest.Session) -> None:
    """Say which files have tests that were chosen."""
    announce(item.path for item in session.items)


def is_chinese(item: pytest.Item) -> bool:
    """Whether it is the Chinese one of two cases: behind the English ones a page is loaded anew once."""
    return item.name.partition("[")[2].startswith("zh")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> bool | None:
    """Leave a file to another run that has taken it."""
    return None if is_ours(item.path) else True


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    if report.failed and call.when != "teardown":
        for value in getattr(item, "funcargs", {}).values():
            if isinstance(value, World):
                report.sections.extend(value.evidence())
                value.page.screenshot(f"failed-{item.name}")
    return report


@dataclass(frozen=True, slots=True)
class World:
    """One test's tab, and what it runs against."""

    page: TavernPage
    data: DataFolder
    tavern: SillyTavern
    sidecar: Sidecar
    gate: Gate
    llm: MockLlm

    def evidence(self) -> list[tuple[str, str]]:
        """What a failed test's report needs."""
        return [
            ("last prompts", "\n---\n".join(map(str, self.llm.prompts[-2:]))),
            ("extension", self.page.account()),
            ("browser console", "\n".join(self.page.console[-30:])),
            ("sidecar", self.sidecar.tail()),
            ("SillyTavern", self.tavern.child.tail()),
        ]


@pytest.fixture(scope="session")
def tools() -> Tools:
    return find_tools()


@pytest.fixture(scope="session")
def version(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--st-version", default=DEFAULT_ST_VERSION))


@pytest.fixture(scope="session")
def llm(tools: Tools) -> Iterator[MockLlm]:
    mock = MockLlm(free_port())
    yield mock
    mock.close()


@pytest.fixture(scope="session")
def gate(tools: Tools) -> Iterator[Gate]:
    """The address SillyTavern knows; the sidecar listens behind it."""
    gate = Gate(free_port(), free_port())
    yield gate
    gate.close()


@pytest.fixture(scope="session")
def tavern_ports(tools: Tools) -> dict[bool, int]:
    """The port of the SillyTavern with the server plugin (True), and of the one without (False)."""
    return {True: free_port(), False: free_port()}


@pytest.fixture(scope="session")
def sidecar(
    gate: Gate, tavern_ports: dict[bool, int], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sidecar]:
    sidecar = Sidecar(tmp_path_factory.mktemp("sidecar") / "data", gate.target)
    sidecar.start()
    yield sidecar
    sidecar.stop()


@pytest.fixture(scope="session")
def browser(tools: Tools) -> Iterator[BrowserContext]:
    """One context: the tests' tabs share its HTTP cache, which halves the time a page takes to load."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=tools.chromium, args=CHROMIUM_FLAGS)
        context = chromium.new_context(
            viewport={"width": 1400, "height": 900},
            reduced_motion="reduce",  # a third of the CPU of loading a page paints a spinner
        )
        context.set_default_timeout(30_000 * PATIENCE)
        yield context
        chromium.close()


@dataclass(frozen=True, slots=True)
class Tavern:
    """A running SillyTavern and its data folder."""

    server: SillyTavern
    data: DataFolder


@pytest.fixture(scope="session")
def tavern(
    tools: Tools,
    version: str,
    llm: MockLlm,
    gate: Gate,
    sidecar: Sidecar,
    tavern_ports: dict[bool, int],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Tavern]:
    """The SillyTavern most scenarios use: with the server plugin."""
    package = package_folder(version, cache_folder())
    # Plugins are loaded from the server's own folder; a copy of that would be compiled anew each time.
    plugin = package / "plugins" / EXTENSION

    def prepare() -> None:
        install(version, cache_folder(), tools)
        shutil.rmtree(plugin, ignore_errors=True)  # of a run that was killed
        copy_repository(plugin)

    lock = cache_folder() / f"sillytavern-{version}.lock"
    with installed(lock, prepare, lambda: shutil.rmtree(plugin)):
        root = tmp_path_factory.mktemp("sillytavern")
        data = DataFolder(
            root,
            package,
            llm.url,
            plugins=True,
            disabled=() if is_long_run() else NOT_NEEDED,
        )
        env = {
            "SOULMEM_URL": f"http://127.0.0.1:{gate.port}",
            "SOULMEM_DATA": str(sidecar.folder),
        }
        server = SillyTavern(package, root, tavern_ports[True], compiled(version), tools, env)
        server.wait()
        sidecar.wait()
        yield Tavern(server, data)
        server.stop()


@pytest.fixture(scope="session")
def tavern_without_plugin(
    tools: Tools,
    version: str,
    llm: MockLlm,
    tavern: Tavern,
    tavern_ports: dict[bool, int],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Tavern]:
    """A second SillyTavern as most people have it: server plugins off."""
    package = package_folder(version, cache_folder())
    root = tmp_path_factory.mktemp("sillytavern-plain")
    data = DataFolder(root, package, llm.url, plugins=False)
    server = SillyTavern(package, root, tavern_ports[False], compiled(version), tools, {})
    server.wait()
    yield Tavern(server, data)
    server.stop()


def compiled(version: str) -> Path:
    """Where the front end is kept that SillyTavern compiles once."""
    return cache_folder() / f"webpack-{version}"


@pytest.fixture(scope="session")
def tabs() -> dict[str, TavernPage]:
    """The tab for each SillyTavern, by its address."""
    return {}


@dataclass(frozen=True, slots=True)
class Stage:
    """What the tests of a file have in common."""

    sidecar: Sidecar
    gate: Gate
    llm: MockLlm
    browser: BrowserContext
    tabs: dict[str, TavernPage]


@pytest.fixture
def stage(
    sidecar: Sidecar,
    gate: Gate,
    llm: MockLlm,
    browser: BrowserContext,
    tabs: dict[str, TavernPage],
) -> Stage:
    return Stage(sidecar, gate, llm, browser, tabs)


@contextmanager
def _visit(tavern: Tavern, stage: Stage, item: pytest.Item) -> Iterator[World]:
    """A test in the tab of all tests. Afterwards what it broke is whole; the extension must not have thrown.

    A test that failed takes its tab with it.
    """
    sidecar, gate, llm, tabs = stage.sidecar, stage.gate, stage.llm, stage.tabs
    llm.forget()
    # The longest wait there is: how well a busy machine keeps the usual one is not what most tests are about.
    tavern.data.write_settings({"url": f"http://127.0.0.1:{gate.port}", "time_budget": 10_000})
    url = tavern.server.url
    if url not in tabs:
        tabs[url] = TavernPage(stage.browser, url, llm)
    page = tabs[url]
    page.begin()
    yield World(page, tavern.data, tavern.server, sidecar, gate, llm)
    gate.release()
    ours = [error for error in page.uncaught if EXTENSION in error]
    if ours or FAILED in item.stash:
        tabs.pop(url).tab.close()
    else:
        page.tab.set_viewport_size(DESKTOP)  # type: ignore[arg-type]
    if sidecar.status() == "down":
        sidecar.start()
        sidecar.wait()
    assert not ours, "uncaught in the extension:\n" + "\n".join(ours)


@pytest.fixture
def world(tavern: Tavern, stage: Stage, request: pytest.FixtureRequest) -> Iterator[World]:
    with _visit(tavern, stage, request.node) as world:
        yield world


@pytest.fixture
def window(world: World) -> MemoryWindow:
    return MemoryWindow(world)


@pytest.fixture(scope="session")
def script(tools: Tools) -> Path:
    """axe-core."""
    return axe_script(tools)


@pytest.fixture
def world_without_plugin(
    tavern_without_plugin: Tavern, stage: Stage, request: pytest.FixtureRequest
) -> Iterator[World]:
    with _visit(tavern_without_plugin, stage, request.node) as world:
        yield world
