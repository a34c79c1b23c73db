"""Passes of a sentence-transformers model over texts, on the cores that are free."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from soulmem.adapters.free_cores import FreeCores

Row = Mapping[str, Any]  # what a pass gives of one text: tensors by name


class ModelPasses:
    """Reads texts with one model and prompt; for one caller at a time."""

    def __init__(
        self, model: Any, prompt: str, *, batch: int, threads: int | None
    ) -> None:
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
            self._model.preprocess(
                [texts[place] for place in piece], prompt=self._prompt
            )
            for piece in pieces
        ]
        rows: list[Row] = [{}] * len(texts)
        for piece, passed in zip(
            pieces, self._cores.map(self._pass, read), strict=True
        ):
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
