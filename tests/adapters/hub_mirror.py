"""A small model hub: it lists the files of one model and gives them, as the hub's client asks for them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class Mirror:
    """What was asked of the hub, and where it listens. `missing` names files that it lists and does not have."""

    def __init__(self) -> None:
        self.address = ""
        self.asked: list[str] = []
        self.missing: set[str] = set()


@contextmanager
def hub_mirror(name: str, folder: Path) -> Iterator[Mirror]:
    """Serve the files of the folder as the model `name`."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    mirror = Mirror()

    class Answer(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            path = self.path.partition("?")[0]
            mirror.asked.append(path)
            body, head = self._found(path)
            self.send_response(404 if body is None else 200)
            for key, value in head.items():
                self.send_header(key, value)
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if with_body and body:
                self.wfile.write(body)

        def _found(self, path: str) -> tuple[bytes | None, dict[str, str]]:
            if path == f"/api/models/{name}":
                listed = [{"rfilename": file, "size": len(data)} for file, data in files.items()]
                info = {"id": name, "sha": COMMIT, "siblings": listed}
                return json.dumps(info).encode(), {"Content-Type": "application/json"}
            file = path.removeprefix(f"/{name}/resolve/main/")
            if file in mirror.missing or file not in files:
                return None, {}
            tag = hashlib.sha256(files[file]).hexdigest()
            return files[file], {"ETag": f'"{tag}"', "X-Repo-Commit": COMMIT}

        def log_message(self, format: str, *args: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    mirror.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(
        target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
    )
    thread.start()
    try:
        yield mirror
    finally:
        server.shutdown()
        server.server_close()
