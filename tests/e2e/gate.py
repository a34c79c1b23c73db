"""A network between SillyTavern and the sidecar that misbehaves on request."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress


class Gate:
    """A TCP pipe to `target` that can hold requests back.

    `hold(b"POST /v1/recall")` leaves every connection standing on which a request with such a start arrives:
    accepted, never answered, not closed until `release()`. `hold(b"")` does it to all. When the target dies,
    both ends close.
    """

    def __init__(self, port: int, target: int) -> None:
        self.port, self.target = port, target
        self._starts: tuple[bytes, ...] = ()
        self._let_through = 0
        self._open = threading.Event()
        self._open.set()
        self.held = 0
        self._listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, daemon=True).start()

    def hold(self, *starts: bytes, let_through: int = 0) -> None:
        """From now on hold requests that begin with one of `starts`, after the next `let_through` of them."""
        self.held, self._starts, self._let_through = 0, starts, let_through
        self._open.clear()

    def release(self) -> None:
        """Let everything through, what is held included."""
        self._starts = ()
        self._open.set()

    def close(self) -> None:
        self.release()
        # shutdown() wakes the thread in accept(); close() alone leaves it there on Linux.
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            server = socket.create_connection(("127.0.0.1", self.target))
        except OSError:
            # Nobody behind the gate: a reset, which a browser reports as it does a refused connection.
            client.close()
            return
        threading.Thread(target=self._pump, args=(server, client), daemon=True).start()
        self._pump(client, server, may_hold=True)

    def _wait(self) -> None:
        if self._let_through > 0:
            self._let_through -= 1
            return
        self.held += 1
        self._open.wait()

    def _pump(self, source: socket.socket, sink: socket.socket, may_hold: bool = False) -> None:
        try:
            while chunk := source.recv(65536):
                if may_hold and chunk.startswith(self._starts):
                    self._wait()
                sink.sendall(chunk)
        except OSError:
            pass
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()
