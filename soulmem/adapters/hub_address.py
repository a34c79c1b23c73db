"""The address of the model hub: one of the user, the settings or the environment, or the usual one."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from soulmem.adapters.disk_files import folder_error, replace_file
from soulmem.domain.errors import Unprocessable
from soulmem.domain.phrases import phrase
from soulmem.domain.web_addresses import is_web_address

USUAL = "https://huggingface.co"


class HubAddress:
    """Where models are downloaded from. The user's own address is a line in a file of the data folder."""

    def __init__(self, path: Path | None = None, setting: str = "") -> None:
        """`setting` is `embedder.hub`; empty: that of the environment, else the usual one."""
        self._path = path
        self._setting = setting

    def current(self) -> str:
        """The address in force, without / at its end."""
        address = self.own() or self._setting or os.environ.get("HF_ENDPOINT") or USUAL
        return address.rstrip("/")

    def own(self) -> str:
        """The user's own address; empty where there is none, or its file holds something else."""
        text = ""
        if self._path is not None:
            with suppress(OSError, UnicodeDecodeError):
                text = self._path.read_text(encoding="utf-8").strip()
        return text if is_web_address(text) else ""

    def choose(self, address: str) -> None:
        """Keep the user's own address over restarts; empty: none. Raises Unprocessable, StoreError."""
        text = address.strip()
        if text and not is_web_address(text):
            raise Unprocessable(
                phrase(
                    "hub_address",
                    "'{address}' is no address of a model hub: write it like https://example.org, without ? and #",
                    address=text[:200],
                ),
                field="hub",
            )
        if self._path is None:
            return
        try:
            if text:
                self._path.parent.mkdir(parents=True, exist_ok=True)
                replace_file(self._path, text.encode())
            else:
                self._path.unlink(missing_ok=True)
        except OSError as error:
            raise folder_error(self._path.parent, error) from error
