"""Addresses of other machines that the user writes down."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_web_address(text: str) -> bool:
    """Whether the text is an address like https://example.org/path: with a host, and nothing behind the path."""
    if not text.isascii() or not text.isprintable() or " " in text:
        return False
    try:
        parts = urlsplit(text)
        has_host = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and has_host
        and "@" not in parts.netloc
        and not any(sign in text for sign in "?#\\")
    )
