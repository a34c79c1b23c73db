"""Checks that an uploaded file is UTF-8 text, and reads its JSON."""

from __future__ import annotations

import json
from typing import Any

from soulmem.domain.errors import Unprocessable
from soulmem.domain.phrases import phrase

_WIDE_ENCODINGS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"\x00\x00\xfe\xff": "UTF-32",
}
# bytes at the start that are searched for zeros, which mark wide encodings
_SEARCHED_BYTES = 4096
_BOM = b"\xef\xbb\xbf"


def check_text(data: bytes) -> None:
    """Raises Unprocessable for an empty file, another encoding than UTF-8, or binary data."""
    if not data.strip():
        raise Unprocessable(
            phrase("file_empty", "the file is empty: choose another"), field="text"
        )
    for mark, name in _WIDE_ENCODINGS.items():
        if data.startswith(mark):
            raise Unprocessable(
                phrase(
                    "file_encoding",
                    "the file is in {name}: save it as UTF-8",
                    name=name,
                ),
                field="text",
            )
    if b"\x00" in data[:_SEARCHED_BYTES]:
        raise Unprocessable(
            phrase(
                "file_zeros",
                "the file holds zero bytes, so it is no text in UTF-8: save it as UTF-8, or choose another",
            ),
            field="text",
        )


def json_object(data: bytes) -> dict[str, Any]:
    """The JSON object in a file. Raises Unprocessable."""
    check_text(data)
    try:
        content = json.loads(data.removeprefix(_BOM).decode())
    except UnicodeDecodeError as error:
        raise Unprocessable(
            phrase(
                "file_no_utf8",
                "byte {byte} at {place} is no UTF-8: save the file as UTF-8",
                byte=f"{data[error.start]:#04x}",
                place=error.start,
            ),
            field="text",
        ) from error
    except (ValueError, RecursionError) as error:
        reason = (
            "it nests too deep" if isinstance(error, RecursionError) else str(error)
        )
        raise Unprocessable(
            phrase(
                "file_no_json",
                "the file is no JSON ({reason}): export it again",
                reason=reason,
            ),
            field="text",
        ) from error
    if not isinstance(content, dict):
        raise Unprocessable(
            phrase("file_no_object", "the file holds no JSON object: choose another"),
            field="text",
        )
    return content
