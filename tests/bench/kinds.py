"""How often the kind of a line is told right, on lines kept apart: `python -m tests.bench.kinds [MODEL_FOLDER]`.

`--write` fits the kinds by words to their examples first, and keeps that in the product.

The lines of `kind_lines` were written before anything was fitted. Without a folder the packaged encoder and the
words of the examples are measured; with one, that sentence-transformers model as well.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from soulmem.language.kinds import example_words
from soulmem.language.kinds.kind_lines import kinds
from soulmem.language.kinds.line_kinds import Encode, LineKinds, fitted
from soulmem.language.segmentation import without_quotes

Counts = NDArray[np.int64]

LINES = Path(__file__).parent / "kind_lines"
_SOMEBODY = {"zh": "那人", "ja": "あの人", "ko": "민수", "ru": "Иван"}
_AGAINST = ("met", "talked_of")


def kept_apart(language: str) -> dict[str, list[str]]:
    """The lines of a language by their kind."""
    out: dict[str, list[str]] = {}
    text = (LINES / f"{language}.txt").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line.startswith("["):
            kind = out.setdefault(line[1:-1], [])
        elif line and not line.startswith("#"):
            kind.append(without_quotes(line.replace("X", _SOMEBODY.get(language, "Robert"))))
    return out


def languages() -> list[str]:
    """Codes of the languages with lines."""
    return sorted(path.stem for path in LINES.glob("*.txt"))


def confusion(
    judge: LineKinds, encode: Encode, lines: dict[str, list[str]], among: list[str]
) -> Counts:
    """Counts [true, told] of these kinds."""
    out = np.zeros((len(among), len(among)), np.int64)
    for place, kind in enumerate(among):
        for told in judge.likeliest(encode(lines[kind]), among):
            out[place, among.index(told)] += 1
    return out


def share_right(counts: Counts) -> float:
    """Share of the lines of which the kind was told right."""
    return float(np.trace(counts) / counts.sum())


def report(name: str, encode: Encode, *, details: bool = True) -> Iterator[str]:
    """Lines that say how an encoder does."""
    judge = example_words.word_kinds() if encode is example_words.embed else fitted(encode)
    among = [kind.name for kind in kinds() if not kind.against]
    for language in languages():
        lines = kept_apart(language)
        counts = confusion(judge, encode, lines, among)
        here = share_right(confusion(judge, encode, lines, list(_AGAINST)))
        yield (f"{name} {language}: right {share_right(counts):.3f}, here or talked of {here:.3f}")
        if details:
            yield " " * 12 + " ".join(f"{kind[:9]:>10}" for kind in among)
            for kind, row in zip(among, counts.tolist(), strict=True):
                yield f"{kind:>12}" + " ".join(f"{count:>10}" for count in row)


def main() -> None:
    """Print it."""
    from soulmem.adapters.packaged_encoder import load

    if "--write" in sys.argv:
        print(f"wrote {example_words.write()}")
    details = "--short" not in sys.argv
    folders = [word for word in sys.argv[1:] if not word.startswith("-")]
    encoders: list[tuple[str, Encode]] = [("packaged", load().embed)]
    encoders.append(("words", example_words.embed))
    for folder in folders:
        from soulmem.adapters.sentence_transformer import load as load_model

        encoders.append((Path(folder).name, load_model(folder).embed))
    for name, encode in encoders:
        for line in report(name, encode, details=details):
            print(line)


if __name__ == "__main__":
    main()
