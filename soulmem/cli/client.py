"""HTTP client of the command line. It uses the standard library, which starts fast and ignores proxies."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from soulmem.domain.errors import SoulMemError
from soulmem.domain.foreign_json import read_json

API_MAJOR = 1  # version of the HTTP interface
_PIECE = 1 << 20  # bytes that are read at once
# Where to call a sidecar that listens on all addresses.
_ANY_ADDRESS = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


class Unreachable(SoulMemError):
    """Nothing answers there, or it is not a sidecar."""

    code = "unreachable"


class Refused(SoulMemError):
    """The sidecar answered with an error; `code` is its error code."""

    def __init__(self, status: int, code: str, message: str, field: str | None) -> None:
        super().__init__(message, field=field)
        self.status = status
        self.code = code


@contextmanager
def _as_unreachable(url: str) -> Iterator[None]:
    try:
        yield
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable(f"{url} does not answer: {error}") from error


@dataclass(frozen=True, slots=True)
class Client:
    """One sidecar."""

    host: str
    port: int
    token: str = ""

    @property
    def url(self) -> str:
        """Base URL of the HTTP interface."""
        host = _ANY_ADDRESS.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/v1"

    def ask(self, method: str, path: str, body: Any = None, *, seconds: float = 60.0) -> Any:
        """The JSON response to `method /v1{path}`. Raises Unreachable or Refused."""
        status, answer = self._exchange(method, path, body, {}, seconds)[:2]
        if status >= 400:
            error = answer if isinstance(answer, dict) else {}
            message = str(error.get("message") or f"{self.url}{path} answered {status}")
            raise Refused(status, str(error.get("error") or "error"), message, error.get("field"))
        return answer

    def save(self, path: str, file: BinaryIO, *, seconds: float) -> int:
        """Write the response to `GET /v1{path}` into `file`. Returns its number of lines.

        Raises Unreachable, Refused or OSError.
        """
        connection = http.client.HTTPConnection(
            _ANY_ADDRESS.get(self.host, self.host), self.port, timeout=seconds
        )
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        lines = 0
        try:
            with _as_unreachable(self.url):
                connection.request("GET", f"/v1{path}", headers=sent)
                response = connection.getresponse()
            if response.status != 200:
                error = read_json(response.read() or b"{}")
                raise Refused(
                    response.status,
                    error["error"],
                    error["message"],
                    error.get("field"),
                )
            while True:
                with _as_unreachable(self.url):
                    piece = response.read(_PIECE)
                if not piece:
                    return lines
                lines += piece.count(b"\n")
                file.write(piece)
        finally:
            connection.close()

    def health(
        self, origin: str | None = None, *, seconds: float = 2.0
    ) -> tuple[dict[str, Any], str | None]:
        """The sidecar's health report, and the Origin that it allows. Raises Unreachable or Refused."""
        headers = {} if origin is None else {"Origin": origin}
        status, answer, allowed = self._exchange("GET", "/health", None, headers, seconds)
        fields = answer if isinstance(answer, dict) else {}
        if status == 403 and fields.get("error") == "forbidden":
            raise Refused(status, "forbidden", str(fields.get("message")), None)
        if status != 200 or "api" not in fields:
            raise Unreachable(f"the program at {self.url} is not SoulMem (status {status})")
        if fields["api"]["major"] != API_MAJOR:
            message = f"SoulMem {fields['version']} at {self.url} has another version: restart it"
            raise Refused(status, "conflict", message, None)
        return fields, allowed

    def _exchange(
        self, method: str, path: str, body: Any, headers: dict[str, str], seconds: float
    ) -> tuple[int, Any, str | None]:
        """Status, JSON (None if it is not JSON) and the allowed Origin of a response."""
        data = None if body is None else json.dumps(body, allow_nan=False).encode()
        sent = {"Content-Type": "application/json"} if data is not None else {}
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        connection = http.client.HTTPConnection(
            _ANY_ADDRESS.get(self.host, self.host), self.port, timeout=seconds
        )
        try:
            connection.request(method, f"/v1{path}", data, {**sent, **headers})
            response = connection.getresponse()
            raw = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(f"{self.url} does not answer: {error}") from error
        finally:
            connection.close()
        try:
            answer = read_json(raw)
        except ValueError:
            answer = None
        return (
            response.status,
            answer,
            response.getheader("Access-Control-Allow-Origin"),
        )
