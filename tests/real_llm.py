"""A real language model for tests: llama.cpp's server with a model of half a billion parameters.

Its answers depend on the seed of the server. A test makes one attempt with each of five seeds, each with a
server of its own, so that no attempt depends on what ran before, and says how many of them must pass.

SOULMEM_TEST_LLM names the folder that `.ci/small_model.py` filled. Without it the cache of this machine is
looked at; in CI it is filled, and a registry that cannot be reached fails the test. Elsewhere it is skipped.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import small_model
from soulmem.adapters.litellm_endpoint import LitellmEndpoint
from soulmem.domain.llm import Unreadable

SEEDS = (1, 2, 3, 4, 5)

_SERVE = """
import sys, time
import xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.n_ctx, p.n_parallel, p.port, p.ui = sys.argv[1], 4096, 1, int(sys.argv[2]), False
p.hostnames = ["127.0.0.1"] if isinstance(p.hostnames, list) else "127.0.0.1"
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1  # more spin in vain on a small machine
p.verbosity = 0
p.sampling.seed = int(sys.argv[3])  # of each request that names none
server = xllamacpp.Server(p)
sys.stdin.read()
"""
_STARTS_WITHIN = 120.0  # seconds
_ANSWERS_WITHIN = 900.0  # seconds


class TooLittle(AssertionError):
    """The model answered, and too little of the answer could be kept: what a seed may fail with."""


@pytest.fixture(scope="session")
def model_folder() -> Path:
    """The folder that holds the model and the server; skips or fails when they are not there."""
    named = os.environ.get("SOULMEM_TEST_LLM")
    if named:
        assert (Path(named) / small_model.MODEL).is_file(), (
            f"SOULMEM_TEST_LLM={named}: no model is there"
        )
        return Path(named)
    cache = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "soulmem-tests" / "llm"
    )
    if not (cache / small_model.MODEL).is_file() and not os.environ.get("CI"):
        pytest.skip("SOULMEM_TEST_LLM does not name a folder filled by .ci/small_model.py")
    return small_model.bring(cache)


async def passing_seeds(
    folder: Path, attempt: Callable[[LitellmEndpoint], Awaitable[None]]
) -> list[int]:
    """The seeds whose attempt passes. Prints a line for each seed.

    An attempt fails its seed by TooLittle or Unreadable. Any other error fails the test: a false statement
    that was kept, a server that does not answer.
    """
    passing = []
    for seed in SEEDS:
        began = time.monotonic()
        async with real_model(folder, seed) as model:
            try:
                await attempt(model)
                passing.append(seed)
                outcome = "passed"
            except (TooLittle, Unreadable) as error:
                outcome = f"failed: {type(error).__name__}: {error}"
        print(f"seed {seed}: {outcome} ({time.monotonic() - began:.0f} s)", flush=True)
    return passing


@asynccontextmanager
async def real_model(folder: Path, seed: int) -> AsyncIterator[LitellmEndpoint]:
    """The model on a server of its own that samples with the seed."""
    server, url = await asyncio.to_thread(_start, folder, seed)
    model = LitellmEndpoint(url, "small", "", _ANSWERS_WITHIN)
    try:
        yield model
    finally:
        await model.stop()
        await asyncio.to_thread(_end, server)


def _start(folder: Path, seed: int) -> tuple[subprocess.Popen[bytes], str]:
    """The server's process and its address, like http://127.0.0.1:8411/v1."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = subprocess.Popen(
        [
            *(sys.executable, "-c", _SERVE),
            *(str(folder / small_model.MODEL), str(port), str(seed)),
        ],
        env={**os.environ, "PYTHONPATH": str(folder / small_model.LIBRARY)},
        stdin=subprocess.PIPE,  # closed when this process ends, however it ends
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(f"http://127.0.0.1:{port}/health", server)
    except BaseException:
        _end(server)
        raise
    return server, f"http://127.0.0.1:{port}/v1"


def _end(server: subprocess.Popen[bytes]) -> None:
    server.kill()
    server.communicate()


def _wait(url: str, child: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + _STARTS_WITHIN
    while time.monotonic() < end:
        assert child.poll() is None, f"the server ended with {child.returncode}"
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url, timeout=5):
                return
        except (OSError, urllib.error.URLError):
            time.sleep(0.5)
    raise AssertionError(f"the server is not ready after {_STARTS_WITHIN:g} s")
