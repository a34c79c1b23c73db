"""What a page's thread did while something was pressed, by the browser's own trace: its longest task, and why."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

CATEGORIES = [
    *("devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel"),
    "blink.user_timing",
]
MARK = "soulmem_first"
_TASK = "RunTask"
_THREAD = "CrRendererMain"
_OURS = "/third-party/SoulMem/"


@dataclass(frozen=True, slots=True)
class Task:
    """A task of the page's thread: when it began, on the trace's own clock, and milliseconds of CPU.

    `parts` by what it did, each without what lies within it.
    """

    began: float
    cpu: float
    parts: dict[str, float] = field(default_factory=dict)

    def told(self, most: int = 3) -> str:
        """What it did longest."""
        longest = sorted(self.parts.items(), key=lambda part: -part[1])[:most]
        return ", ".join(f"{name} {cpu:.0f}" for name, cpu in longest if cpu >= 1.0)


NONE = Task(0.0, 0.0)


class Traced:
    """The tasks of one trace; `before`: CPU of those that began before the page marked `MARK`, in milliseconds."""

    def __init__(self) -> None:
        self.tasks: list[Task] = []
        self.before = 0.0

    @property
    def longest(self) -> Task:
        """The task with most CPU."""
        return max(self.tasks, key=lambda task: task.cpu, default=NONE)


@contextmanager
def traced(browser: Any, tab: Any) -> Iterator[Traced]:
    """Trace the page's thread meanwhile."""
    out = Traced()
    browser.start_tracing(page=tab, categories=CATEGORIES)
    try:
        yield out
    finally:
        events = json.loads(browser.stop_tracing())["traceEvents"]
        out.tasks = tasks_of(events)
        marked = [event["ts"] for event in events if event["name"] == MARK]
        if marked:
            began = (task for task in out.tasks if task.began < min(marked))
            out.before = sum(task.cpu for task in began)


def tasks_of(events: Iterable[dict[str, Any]]) -> list[Task]:
    """The tasks of the threads that scripts and layout share, in no particular order."""
    threads: dict[tuple[int, int], list[dict[str, Any]]] = defaultdict(list)
    wanted = set()
    for event in events:
        thread = event["pid"], event["tid"]
        if event.get("ph") == "X" and "tdur" in event:
            threads[thread].append(event)
        elif event["name"] == "thread_name" and event["args"]["name"] == _THREAD:
            wanted.add(thread)
    out = []
    for thread in wanted:
        out += _tasks(threads[thread])
    return out


def _tasks(events: list[dict[str, Any]]) -> list[Task]:
    out: list[Task] = []
    task: dict[str, Any] | None = None
    open_events: list[dict[str, Any]] = []
    for event in sorted(events, key=lambda one: (one["ts"], -one["dur"])):
        if event["name"].endswith(_TASK):
            if task is not None and event["ts"] < task["ts"] + task["dur"]:
                continue  # a task within a task
            task, open_events = event, []
            out.append(Task(event["ts"], event["tdur"] / 1000))
        if task is None or event["ts"] >= task["ts"] + task["dur"]:
            continue
        while open_events and _end(open_events[-1]) <= event["ts"]:
            open_events.pop()
        parts = out[-1].parts
        if open_events:
            outer = _name(open_events[-1])
            parts[outer] = parts.get(outer, 0.0) - event["tdur"] / 1000
        name = _name(event)
        parts[name] = parts.get(name, 0.0) + event["tdur"] / 1000
        open_events.append(event)
    return out


def _end(event: dict[str, Any]) -> float:
    return float(event["ts"] + event["dur"])


def _name(event: dict[str, Any]) -> str:
    """What an event is; of scripts also whether they are this extension's."""
    data = event.get("args", {}).get("data")
    url = str(data.get("url", "")) if isinstance(data, dict) else ""
    name = str(event["name"])
    if not url:
        return name
    return f"{name} (ours)" if _OURS in url else f"{name} ({url.rsplit('/', 1)[-1]})"
