"""What tests share: quiet threads, hypothesis profiles, a small heap, optional data, a loop that may not block."""

from __future__ import annotations

import asyncio
import gc
import itertools
import logging
import os
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from types import FrameType

import pytest
from blockbuster import BlockBuster
from hypothesis import HealthCheck, settings

# Before anything imports numpy or torch: spinning worker threads slow a small machine down 100 times.
for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")
os.environ.setdefault(
    "HF_HUB_OFFLINE", "1"
)  # a test that wants a model hub would pass only on some machines

# What works on a mind fails on the event loop; read where soulmem is imported.
os.environ["SOULMEM_CHECK_COMPUTE"] = "1"

# Seconds of CPU that one step on the event loop may take. Beside another busy process the same work costs up to
# twice the CPU time: two threads share what one core has.
LOOP_BUDGET = 0.1 if os.environ.get("SOULMEM_TEST_BESIDE") else 0.05
# The machine for which the budget was set makes so many additions in so many seconds of CPU.
_COUNTED, _COUNTING = 500_000, 0.02
_SAMPLE_EVERY = 0.01  # seconds between looks at a running step

# Derandomised: a red run can be repeated. No deadline: other work on the machine is not the test's fault.
for _profile, _examples in (("everyday", 25), ("long", 300)):
    settings.register_profile(
        _profile,
        max_examples=_examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("SOULMEM_TEST_PROFILE", "everyday"))

# Tests between two looks for what has been imported since: each looks at what is younger.
_LOOK_EVERY = 50
_tests_begun = itertools.count()
_freeze = gc.freeze

_LONG = 5.0  # seconds of processor time; a mirror, no limit
_took_long: list[str] = []

OptionalData = Callable[[str, str], Path]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Refuse a slow test that does not say why."""
    mark = item.get_closest_marker("slow")
    if mark is not None and not mark.args:
        raise pytest.UsageError(f'{item.nodeid}: say why: pytest.mark.slow("reason")')


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Remember a test that took long and does not say why. What other processes take is not counted: they are
    often those of a test before, which end meanwhile.
    """
    began = time.process_time()
    outcome = yield
    used = time.process_time() - began
    if used > _LONG and item.get_closest_marker("slow") is None:
        _took_long.append(f"{used:.1f} s of processor time, not marked as slow: {item.nodeid}")
    return outcome


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that took long, and say why tests were skipped: once for each reason, with their number."""
    for line in _took_long:
        terminalreporter.write_line(line, yellow=True)
    reports = terminalreporter.getreports("skipped")
    reasons = Counter(
        report.longrepr[2] for report in reports if isinstance(report.longrepr, tuple)
    )
    for reason, count in reasons.most_common():
        terminalreporter.write_line(f"{count} x {reason}", yellow=True)


@pytest.fixture(scope="session", autouse=True)
def engines_do_not_freeze() -> Iterator[None]:
    """An engine takes all objects out of the garbage collector's sight, and what is frozen is never freed:
    each engine of each test would stay in memory. Full passes come between tests only.
    """
    patch, thresholds = pytest.MonkeyPatch(), gc.get_threshold()
    patch.setattr(gc, "freeze", lambda: None)
    gc.set_threshold(*thresholds[:2], 1_000_000)
    yield
    gc.set_threshold(*thresholds)
    patch.undo()


@pytest.fixture(autouse=True)
def small_heap(engines_do_not_freeze: None) -> None:
    """Free what tests left, and take what lasts out of the collector's sight: pytest and what was imported. A
    full pass over that takes a second.
    """
    if next(_tests_begun) % _LOOK_EVERY == 0:
        gc.collect()
        _freeze()


@pytest.fixture
def engines_freeze(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines freeze as they do for people."""
    monkeypatch.setattr(gc, "freeze", _freeze)


@pytest.fixture(scope="session")
def optional_data() -> OptionalData:
    """Find data that is not part of the repository: `optional_data("SOULMEM_TEST_X", "what it is")`.

    Skips, naming the variable, when it is unset; fails when it names nothing that exists.
    """

    def find(variable: str, what: str) -> Path:
        value = os.environ.get(variable)
        if not value:
            pytest.skip(f"{variable} does not name {what}")
        path = Path(value)
        assert path.exists(), f"{variable}={value}: {what} is not there"
        return path

    return find


def slowness() -> float:
    """How many times slower this thread computes now than the machine for which the budget was set; at least 1."""
    began = time.thread_time()
    total = 0
    for number in range(_COUNTED):
        total += number
    return max((time.thread_time() - began) / _COUNTING, 1.0)


class LoopWatch:
    """Times each step of every event loop and keeps those that used more CPU than `LOOP_BUDGET`.

    CPU of the loop's own thread, not wall time, and measured against a count made right after a long step:
    neither a slow machine nor its other work can make a test fail.
    Calls that wait without using CPU (files, sockets, sleep) are left to blockbuster.
    """

    def __init__(self) -> None:
        self.blocked: list[str] = []
        self._step: tuple[int, float] | None = None  # running step: its thread, its start
        self._stack: list[traceback.FrameSummary] = []  # innermost last
        self._stop = threading.Event()
        self._sampler = threading.Thread(target=self._sample, name="loop-watch", daemon=True)

    def start(self) -> None:
        """Begin to look at running steps; needed only for the stack in the report."""
        self._sampler.start()

    def stop(self) -> None:
        """End the sampler."""
        self._stop.set()
        self._sampler.join()

    def run(self, step: Callable[[], None], what: Callable[[], str]) -> None:
        """Run one step and remember it, as `what()` names it then, if it took too much CPU."""
        self._stack = []
        self._step = (threading.get_ident(), time.monotonic())
        began = time.thread_time()
        try:
            step()
        finally:
            used = time.thread_time() - began
            self._step = None
            if used > LOOP_BUDGET and used > LOOP_BUDGET * slowness():
                where = (
                    "".join(traceback.format_list(self._stack))
                    or "(no stack: the step ended between two looks)\n"
                )
                self.blocked.append(f"{used * 1000:.0f} ms of CPU in {what()}, seen at\n{where}")

    def _sample(self) -> None:
        while not self._stop.wait(_SAMPLE_EVERY):
            step = self._step
            if step is None or self._stack or time.monotonic() - step[1] < LOOP_BUDGET / 2:
                continue
            frame = sys._current_frames().get(step[0])
            # On a busy machine a step may not have begun, though its time runs.
            has_begun = frame is not None and frame.f_code.co_filename != __file__
            if frame is not None and has_begun and self._step is step:
                self._stack = _innermost(frame)


def _innermost(frame: FrameType, count: int = 6) -> list[traceback.FrameSummary]:
    """The last calls of a stack, without their source: reading files takes longer than a busy step lasts."""
    calls = [call for _, call in zip(range(count), traceback.walk_stack(frame), strict=False)]
    return [
        traceback.FrameSummary(
            call.f_code.co_filename, line, call.f_code.co_name, lookup_line=False
        )
        for call, line in reversed(calls)
    ]


@pytest.fixture(scope="session")
def loop_watch() -> Iterator[LoopWatch]:
    """The one watch, wound into asyncio for the whole session."""
    watch = LoopWatch()
    plain = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        # A library's own loop in a thread of its own keeps nobody waiting.
        if threading.current_thread() is threading.main_thread():
            watch.run(lambda: plain(handle), lambda: repr(handle))
        else:
            plain(handle)

    patch = pytest.MonkeyPatch()
    patch.setattr(asyncio.Handle, "_run", timed)
    watch.start()
    yield watch
    watch.stop()
    patch.undo()


@pytest.fixture(scope="session")
def waiting_guard() -> BlockBuster:
    """Finds calls of soulmem that wait on the event loop, while it is active. Making one takes a millisecond."""
    return BlockBuster(scanned_modules=["soulmem"])


@pytest.fixture(autouse=True)
def unblocked_loop(
    request: pytest.FixtureRequest, loop_watch: LoopWatch, waiting_guard: BlockBuster
) -> Iterator[None]:
    """Fail any test in which soulmem waits on the event loop, or any step of the loop computes over 50 ms.

    Not for e2e: there the sidecar is another process, and Playwright runs the test inside a loop's step.
    """
    if request.node.get_closest_marker("e2e"):
        yield
        return
    waiting_guard.activate()
    loop_watch.blocked.clear()
    yield
    waiting_guard.deactivate()
    if loop_watch.blocked:
        pytest.fail(
            "the event loop was blocked: " + "\n".join(loop_watch.blocked),
            pytrace=False,
        )


class Failures(logging.Handler):
    """The failures of background work that were logged since the test began; a test that wants them takes them."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.told: list[str] = []

    def take(self) -> list[str]:
        """What was logged, which is then no fault of the test."""
        told, self.told = self.told, []
        return told

    def emit(self, record: logging.LogRecord) -> None:
        """Keep what was logged."""
        self.told.append(record.getMessage())


@pytest.fixture(autouse=True)
def failures() -> Iterator[Failures]:
    """Fail any test in which a piece of background work failed: nobody is told but health and the log."""
    handler = Failures()
    logger = logging.getLogger("soulmem.engine.world.attempts")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)
    if handler.told:
        pytest.fail("background work failed: " + "\n".join(handler.told), pytrace=False)
