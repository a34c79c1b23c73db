"""A sentence-transformers folder of a few kilobytes: the real code path without a download."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

WORDS = [
    "[PAD]",
    "[UNK]",
    "[CLS]",
    "[SEP]",
    "[MASK]",
    *"abcdefghijklmnopqrstuvwxyz灯笼挂在河边:",
]


def make_tiny_bert(folder: Path, *, seed: int = 0) -> Path:
    """Write a random BERT (2 layers, 16 dimensions, mean pooling) to `folder`; the seed makes its weights."""
    torch = pytest.importorskip(
        "torch", reason="torch is not installed: it is the optional extra `model`"
    )
    transformers = import_module("transformers")
    modules = import_module("sentence_transformers.sentence_transformer.modules")
    tokenizers = import_module("tokenizers")
    torch.manual_seed(seed)
    bert = transformers.BertModel(
        transformers.BertConfig(
            vocab_size=len(WORDS),
            hidden_size=16,
            num_hidden_layers=2,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=64,
        )
    )
    tokenizer = tokenizers.Tokenizer(
        tokenizers.models.WordPiece({word: i for i, word in enumerate(WORDS)}, unk_token="[UNK]")
    )
    tokenizer.normalizer = tokenizers.normalizers.Lowercase()
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Split(tokenizers.Regex("."), "isolated")
    tokenizer.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    below = folder / "parts"
    bert.save_pretrained(below)
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        model_max_length=64,
    ).save_pretrained(below)
    reader = modules.Transformer(str(below))
    library = import_module("sentence_transformers")
    model = library.SentenceTransformer(modules=[reader, modules.Pooling(16, "mean")], device="cpu")
    out = folder / "model"
    model.save_pretrained(str(out))
    return out
