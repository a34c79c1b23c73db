"""Passes of a sentence-transformers model over texts, on the cores that are free."""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_FREE = 0.8  # share of its time that a thread must compute, for another one to be worth a try
_LONGEST_PAUSE = 64  # calls after which a thread is tried again, however often it found no core


class FreeCores:
    """Threads that do not wait for each other, one more where all computed without a pause, one less where not.

    So other programs keep the cores they use. For one caller at a time. The function must
    compute outside Python's lock, or the threads share one core.
    """

    def __init__(self, most: int | None = None) -> None:
        """At most `most` threads; None: one for each two of the cores that this process may use, two at least."""
        cores = _cores()
        self._most = max(1, min(cores, max(2, cores // 2) if most is None else most))
        self._pool = ThreadPoolExecutor(self._most, "soulmem-pass")
        self._count = 1
        self._pause = 1  # calls before one more is tried again
        self._calls = 0  # since the number of threads changed

    @property
    def threads(self) -> int:
        """How many threads the next call uses."""
        return self._count

    def map(self, function: Callable[[T], R], items: Sequence[T]) -> list[R]:
        """The function's result for each item, in order. Raises what the function raised first."""
        todo = deque(enumerate(items))
        results: dict[int, R] = {}

        def work() -> float:
            began, computed = time.perf_counter(), time.thread_time()
            while todo:
                try:
                    index, item = todo.popleft()
                except IndexError:
                    break  # another thread took the last one
                results[index] = function(item)
            taken = time.perf_counter() - began
            return (time.thread_time() - computed) / taken if taken else 1.0

        count = min(self._count, len(items))
        others = [self._pool.submit(work) for _ in range(count - 1)]
        try:
            shares = [work()]
        finally:
            todo_left = [other.exception() for other in others]
        for error in todo_left:
            if error is not None:
                raise error
        shares += [other.result() for other in others]
        if count == self._count:
            self._adapt(sum(shares) / count)
        return [results[index] for index in range(len(items))]

    def _adapt(self, share: float) -> None:
        """Choose the number of threads by the share of their time that they computed, 0..1."""
        self._calls += 1
        if share < _FREE and self._count > 1:
            self._count -= 1
            self._calls, self._pause = 0, min(2 * self._pause, _LONGEST_PAUSE)
        elif share >= _FREE and self._calls >= self._pause:
            if self._count < self._most:
                self._count += 1
                self._calls = 0
            else:
                self._pause = 1


def _cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


Row = Mapping[str, Any]  # what a pass gives of one text: tensors by name


class ModelPasses:
    """Reads texts with one model and prompt; for one caller at a time."""

    def __init__(self, model: Any, prompt: str, *, batch: int, threads: int | None) -> None:
        """At most `batch` texts in one pass, and `threads` passes at a time; None: as many as cores are free."""
        self._torch = import_module("torch")
        # A pass computes on one core: threads of one pass wait for each other at every step, which on two
        # busy cores took 15 times as long as one thread.
        self._torch.set_num_threads(1)
        self._model = model.eval()
        self._prompt = prompt
        self._batch = batch
        self._cores = FreeCores(threads)

    def rows(self, texts: Sequence[str]) -> list[Row]:
        """What the model gives of each text, in order."""
        # Texts of one length together: a pass takes as long for each as for its longest.
        order = sorted(range(len(texts)), key=lambda place: -len(texts[place]))
        size = min(self._batch, -(-len(texts) // self._cores.threads))
        pieces = [order[start : start + size] for start in range(0, len(order), size)]
        # The tokenizer is not made for several threads, and takes a small part of the time.
        read = [
            self._model.preprocess([texts[place] for place in piece], prompt=self._prompt)
            for piece in pieces
        ]
        rows: list[Row] = [{}] * len(texts)
        for piece, passed in zip(pieces, self._cores.map(self._pass, read), strict=True):
            for index, place in enumerate(piece):
                rows[place] = {name: value[index] for name, value in passed.items()}
        return rows

    def _pass(self, features: Any) -> dict[str, Any]:
        """The tensors of a pass that have a row for each text."""
        with self._torch.inference_mode():
            passed = self._model(features)
        count = len(passed["sentence_embedding"])
        return {
            name: value
            for name, value in passed.items()
            if getattr(value, "shape", ())[:1] == (count,)
        }
