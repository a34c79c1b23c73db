"""Brings an uploaded file to UTF-8 text, and reads its JSON."""

from __future__ import annotations

from typing import Any

from soulmem.domain.errors import Unprocessable
from soulmem.domain.foreign_json import read_json
from soulmem.domain.phrases import phrase

# By their first bytes; the longer ones first, as one begins like another.
_WIDE_ENCODINGS = {
    b"\xff\xfe\x00\x00": "UTF-32",
    b"\x00\x00\xfe\xff": "UTF-32",
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
}
# bytes at the start that are searched for zeros, which mark wide encodings
_SEARCHED_BYTES = 4096
_BOM = b"\xef\xbb\xbf"


def as_utf8(data: bytes) -> bytes:
    """The file in UTF-8 without a mark at its begin; one in UTF-16 or UTF-32 that says so is converted.

    Other bytes stay as they are. Raises Unprocessable for a file that is not in the encoding it names.
    """
    for mark, name in _WIDE_ENCODINGS.items():
        if data.startswith(mark):
            try:
                return data.decode(name).lstrip("\ufeff").encode(errors="replace")
            except UnicodeDecodeError as error:
                raise Unprocessable(
                    phrase(
                        "file_encoding",
                        "the file says that it is in {name}, and is not: save it as UTF-8",
                        name=name,
                    ),
                    field="text",
                ) from error
    return data.removeprefix(_BOM)


def check_text(data: bytes) -> None:
    """Raises Unprocessable for an empty file, or binary data. `data` is what `as_utf8` gave."""
    if not data.strip():
        raise Unprocessable(phrase("file_empty", "the file is empty: choose another"), field="text")
    if b"\x00" in data[:_SEARCHED_BYTES]:
        raise Unprocessable(
            phrase(
                "file_zeros",
                "the file holds zero bytes, so it is no text in UTF-8: save it as UTF-8, or choose another",
            ),
            field="text",
        )


def no_utf8(data: bytes) -> Unprocessable | None:
    """The refusal of a file that is in another encoding than UTF-8, None for one in UTF-8."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return Unprocessable(
            phrase(
                "file_no_utf8",
                "byte {byte} at {place} is no UTF-8: save the file as UTF-8",
                byte=f"{data[error.start]:#04x}",
                place=error.start,
            ),
            field="text",
        )
    return None


def json_value(data: bytes) -> Any:
    """The JSON in a file. Raises Unprocessable."""
    data = as_utf8(data)
    check_text(data)
    refusal = no_utf8(data)
    if refusal is not None:
        raise refusal
    try:
        return read_json(data)
    except ValueError as error:
        raise Unprocessable(
            phrase(
                "file_no_json",
                "the file is no JSON ({reason}): export it again",
                reason=error,
            ),
            field="text",
        ) from error


def json_object(data: bytes) -> dict[str, Any]:
    """The JSON object in a file. Raises Unprocessable."""
    content = json_value(data)
    if not isinstance(content, dict):
        raise Unprocessable(
            phrase("file_no_object", "the file holds no JSON object: choose another"),
            field="text",
        )
    return content
