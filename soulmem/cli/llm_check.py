"""Checks whether the configured language model is reachable, without asking it anything."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from typing import Any
from urllib.parse import urlsplit

from soulmem.adapters.client_llm import MODEL as CLIENT
from soulmem.cli.words import Words
from soulmem.config.settings import LlmEndpoint
from soulmem.domain.foreign_json import read_json

_TIMEOUT = 5.0  # seconds
_LOCAL = ("127.0.0.1", "localhost", "::1")


def look_at(
    wanted: LlmEndpoint | None, health: dict[str, Any] | None, words: Words
) -> tuple[str, str, str | None]:
    """State (ok or warn), detail and remedy. `health` is the report of the running sidecar, if there is one.

    The state is never `fail`, because SoulMem works without a language model.
    """
    if wanted is None:
        return "ok", words("llm_off"), None
    if health is not None and health["llm"]["state"] == "error":
        return "warn", words("llm_failing", model=wanted.model), words("llm_remedy")
    if wanted.model == CLIENT:
        return "ok", words("llm_client"), None
    if not wanted.base_url:
        return "ok", words("llm_provider", model=wanted.model), None
    names = _models(wanted)
    if names is None:
        return (
            "warn",
            words("llm_silent", model=wanted.model, url=wanted.base_url),
            words("llm_remedy"),
        )
    if (
        names
        and wanted.model not in names
        and wanted.model.partition("/")[2] not in names
    ):
        shown = ", ".join(sorted(names)[:5])
        return (
            "warn",
            words("llm_unknown", model=wanted.model, url=wanted.base_url, names=shown),
            None,
        )
    return "ok", words("llm_ok", model=wanted.model, url=wanted.base_url), None


def _models(wanted: LlmEndpoint) -> set[str] | None:
    """The model names that the server lists; None if it does not answer or refuses the key."""
    headers = {"Authorization": f"Bearer {wanted.api_key}"} if wanted.api_key else {}
    request = urllib.request.Request(f"{wanted.base_url}/models", headers=headers)
    is_local = urlsplit(wanted.base_url).hostname in _LOCAL
    # A local server is not behind the proxy.
    handlers = [urllib.request.ProxyHandler({})] if is_local else []
    try:
        with urllib.request.build_opener(*handlers).open(
            request, timeout=_TIMEOUT
        ) as answer:
            listed = read_json(answer.read(1 << 20))
        return {str(model["id"]) for model in listed["data"]}
    except urllib.error.HTTPError as error:
        error.close()
        return None if error.code in (401, 403) else set()
    except (OSError, http.client.HTTPException):
        return None
    except (ValueError, KeyError, TypeError):
        return set()
