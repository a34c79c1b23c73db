"""The token that proves a caller's identity, and its file."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from pathlib import Path

from soulmem.config.setting_error import ConfigError
from soulmem.config.settings import Settings

FILE_NAME = "token"


def with_token(settings: Settings) -> Settings:
    """The settings with a token: their own, or the one in the data folder, which is created if missing.

    Creates the folder and the file (mode 0600). Raises ConfigError if that fails.
    """
    if settings.server.token:
        return settings
    path = settings.data / FILE_NAME
    try:
        settings.data.mkdir(parents=True, exist_ok=True)
        token = _read_token(path) or _create_token(path)
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"the token file {path} cannot be used ({error}): "
            "check the permissions of the folder, or set SOULMEM_TOKEN",
            field="server.token",
        ) from error
    try:
        return replace(settings, server=replace(settings.server, token=token))
    except ConfigError as error:
        raise ConfigError(
            f"{path}: {error.message}; or delete the file", field=error.field
        ) from None


def _read_token(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except FileNotFoundError:
        return ""


def _create_token(path: Path) -> str:
    """Write a new token, unless another process was faster; the one that stands then.

    The file is complete or missing, and only the user can read it.
    """
    token = secrets.token_urlsafe(32)
    draft = path.with_name(f"{FILE_NAME}.{secrets.token_hex(4)}")
    handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(token + "\n")
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(draft, path)  # replaces none, which another process may use already
    except FileExistsError:
        if there := _read_token(path):
            return there
        draft.replace(path)  # an empty one is nobody's
    except OSError:  # a file system without links
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
    return token
