"""A real language model for tests: llama.cpp's server with a model of half a billion parameters.

SOULMEM_TEST_LLM names the folder that `.ci/small_model.py` filled. Without it the cache of this machine is
looked at; in CI it is filled, and a registry that cannot be reached fails the test. Elsewhere it is skipped.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import small_model

_SERVE = """
import sys, time
import xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.n_ctx, p.n_parallel, p.port, p.ui = sys.argv[1], 4096, 1, int(sys.argv[2]), False
p.hostnames = ["127.0.0.1"] if isinstance(p.hostnames, list) else "127.0.0.1"
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1  # more spin in vain on a small machine
p.verbosity = 0
server = xllamacpp.Server(p)
sys.stdin.read()
"""
_STARTS_WITHIN = 120.0  # seconds


def folder() -> Path:
    """Where model and server are; skips or fails when they are not."""
    named = os.environ.get("SOULMEM_TEST_LLM")
    if named:
        assert (Path(named) / small_model.MODEL).is_file(), (
            f"SOULMEM_TEST_LLM={named}: no model is there"
        )
        return Path(named)
    cache = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        / "soulmem-tests"
        / "llm"
    )
    if not (cache / small_model.MODEL).is_file() and not os.environ.get("CI"):
        pytest.skip(
            "SOULMEM_TEST_LLM does not name a folder filled by .ci/small_model.py"
        )
    return small_model.bring(cache)


@pytest.fixture(scope="session")
def llama() -> Iterator[str]:
    """The address of a running server, like http://127.0.0.1:8411/v1; any name of a model will do."""
    place = folder()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    child = subprocess.Popen(
        [sys.executable, "-c", _SERVE, str(place / small_model.MODEL), str(port)],
        env={**os.environ, "PYTHONPATH": str(place / small_model.LIBRARY)},
        stdin=subprocess.PIPE,  # closed when this process ends, however it ends
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(f"http://127.0.0.1:{port}/health", child)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        child.kill()
        child.communicate()


def _wait(url: str, child: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < end:
        assert child.poll() is None, f"the server ended with {child.returncode}"
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(
                url, timeout=5
            ):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.5)
    raise AssertionError(f"the server is not ready after {_STARTS_WITHIN:g} s")
