"""Is an address told from what is none?"""

from __future__ import annotations

import pytest

from soulmem.domain.web_addresses import is_web_address


@pytest.mark.parametrize(
    "text",
    [
        "https://example.org",
        "http://127.0.0.1:8080",
        "https://[::1]:8080/models/hub",
        "https://example.org/a/b/",
    ],
)
def test_an_address(text: str) -> None:
    assert is_web_address(text)


@pytest.mark.parametrize(
    "text",
    [
        *("", "example.org", "//example.org", "ftp://example.org", "https://"),
        *("https:///path", "https://a b", "https://a\n", "https://a?q", "https://a#f"),
        *("https://me:word@a", "https://a:x", "https://a:99999", "https://例.org"),
        *("https://[::1", "https://a\\b"),
    ],
)
def test_no_address(text: str) -> None:
    assert not is_web_address(text)
