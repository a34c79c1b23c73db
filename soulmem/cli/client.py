"""How does the command line talk to a sidecar? By the standard library: it starts fast and asks no proxy."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, BinaryIO

from soulmem.domain.errors import SoulMemError

API_MAJOR = 1  # of the contract that we speak
_PIECE = 1 << 20  # bytes of a file read at once
_ANY_ADDRESS = {
    "": "127.0.0.1",
    "0.0.0.0": "127.0.0.1",
    "::": "::1",
}  # where to call what listens everywhere


class Unreachable(SoulMemError):
    """Nothing answers there, or not with the words of a sidecar."""

    code = "unreachable"


class Refused(SoulMemError):
    """The sidecar answered with an error of its own; `code` is the answer's."""

    def __init__(self, status: int, code: str, message: str, field: str | None) -> None:
        super().__init__(message, field=field)
        self.status = status
        self.code = code


@contextmanager
def _told_unreachable(url: str) -> Iterator[None]:
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
        """Where its API begins."""
        host = _ANY_ADDRESS.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.port}/v1"

    def ask(
        self, method: str, path: str, body: Any = None, *, seconds: float = 60.0
    ) -> Any:
        """The JSON answer to `method /v1{path}`. Raises Unreachable or Refused."""
        status, answer = self._exchange(method, path, body, {}, seconds)[:2]
        if status >= 400:
            error = answer if isinstance(answer, dict) else {}
            message = str(error.get("message") or f"{self.url}{path} answered {status}")
            raise Refused(
                status, str(error.get("error") or "error"), message, error.get("field")
            )
        return answer

    def save(self, path: str, file: BinaryIO, *, seconds: float) -> int:
        """Write what `GET /v1{path}` answers into `file`; its lines. Raises Unreachable, Refused, OSError."""
        connection = http.client.HTTPConnection(
            _ANY_ADDRESS.get(self.host, self.host), self.port, timeout=seconds
        )
        sent = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        lines = 0
        try:
            with _told_unreachable(self.url):
                connection.request("GET", f"/v1{path}", headers=sent)
                response = connection.getresponse()
            if response.status != 200:
                error = json.loads(response.read() or b"{}")
                raise Refused(
                    response.status,
                    error["error"],
                    error["message"],
                    error.get("field"),
                )
            while True:
                with _told_unreachable(self.url):
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
        """What a sidecar says of itself, and the Origin it lets in. Raises Unreachable or Refused."""
        headers = {} if origin is None else {"Origin": origin}
        status, answer, allowed = self._exchange(
            "GET", "/health", None, headers, seconds
        )
        if (
            status == 403
            and isinstance(answer, dict)
            and answer.get("error") == "forbidden"
        ):
            raise Refused(status, "forbidden", str(answer.get("message")), None)
        if status != 200 or not isinstance(answer, dict) or "api" not in answer:
            raise Unreachable(
                f"what answers at {self.url} is not SoulMem (status {status})"
            )
        if answer["api"]["major"] != API_MAJOR:
            message = f"SoulMem {answer['version']} at {self.url} is not of this version: restart it"
            raise Refused(status, "conflict", message, None)
        return answer, allowed

    def _exchange(
        self, method: str, path: str, body: Any, headers: dict[str, str], seconds: float
    ) -> tuple[int, Any, str | None]:
        """Status, JSON (None for anything else) and the allowed Origin."""
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
            answer = json.loads(raw)
        except ValueError:
            answer = None
        return (
            response.status,
            answer,
            response.getheader("Access-Control-Allow-Origin"),
        )
