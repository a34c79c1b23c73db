"""Texts that UTF-8 can carry."""

from __future__ import annotations

import re

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def well_formed(text: str) -> str:
    """`text` without lone surrogates, which no UTF-8 can carry; the extension replaces them the same way."""
    return _LONE_SURROGATE.sub("\ufffd", text)
