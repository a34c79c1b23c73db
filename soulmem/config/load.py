"""Loads the settings from the file, the environment and the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from soulmem.config.setting_error import ConfigError
from soulmem.config.settings import SECTIONS, Settings


def data_folder(
    chosen: str = "", env: Mapping[str, str] | None = None, platform: str = sys.platform
) -> Path:
    """The data folder: `chosen` (`~` allowed), else the usual place of the system. Nothing is created.

    Linux: $XDG_DATA_HOME/soulmem or ~/.local/share/soulmem. macOS: ~/Library/Application Support/soulmem.
    Windows: %LOCALAPPDATA%\\soulmem.
    """
    env = env or {}
    if chosen:
        return Path(chosen).expanduser().absolute()
    if platform == "win32":
        local = env.get("LOCALAPPDATA")
        return (Path(local) if local else Path.home() / "AppData" / "Local") / "soulmem"
    if platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "soulmem"
    share = env.get("XDG_DATA_HOME", "")
    # The XDG standard ignores a relative path.
    return (Path(share) if share.startswith("/") else Path.home() / ".local" / "share") / "soulmem"


_WORDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "tuple[str, ...]": "a list of texts",
}
_TRUE, _FALSE = ("true", "1", "yes", "on"), ("false", "0", "no", "off")


def from_toml(value: Any, kind: str, key: str, where: str) -> Any:
    """`value` as type `kind`; a whole number is accepted as a number. Raises ConfigError for a wrong type."""
    if (
        kind == "tuple[str, ...]"
        and isinstance(value, list)
        and all(isinstance(v, str) for v in value)
    ):
        return tuple(value)
    if kind == "float" and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if type(value).__name__ == kind:
        return value
    raise ConfigError(
        f"{where}: {key} = {value!r} is of the wrong type: write {_WORDS[kind]}",
        field=key,
    )


def from_text(text: str, kind: str, key: str, where: str) -> Any:
    """`text` converted to type `kind`. Raises ConfigError if that is not possible."""
    plain = text.strip()
    try:
        if kind == "tuple[str, ...]":
            return tuple(part.strip() for part in plain.split(",") if part.strip())
        if kind == "int":
            return int(plain)
        if kind == "float":
            return float(plain)
    except ValueError:
        plain = ""
    else:
        if kind == "str":
            return text
        if plain.lower() in _TRUE + _FALSE:
            return plain.lower() in _TRUE
    remedy = "a list with commas" if kind.startswith("tuple") else _WORDS[kind]
    raise ConfigError(f"{where}: {key} = {text!r} is of the wrong type: write {remedy}", field=key)


if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = "config.toml"
# Short names of two variables that are often used.
SHORT_NAMES = {"SOULMEM_DATA": "store.data", "SOULMEM_TOKEN": "server.token"}


def load(
    config: Path | None = None,
    *,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Settings:
    """All settings. Later sources win: defaults, file, environment, `overrides` (`{"server.port": 8000}`).

    The file is `config`, which must exist, or `config.toml` in the data folder, which may be missing. Raises
    ConfigError for an unknown key, a wrong type or a value out of range.
    """
    env = os.environ if env is None else env
    command_line = {
        key: _Sourced(value, f"the command line ({key})")
        for key, value in (overrides or {}).items()
    }
    for key in command_line:
        if key not in _keys():
            raise ConfigError(
                f"{key!r} is not a setting: the settings are {', '.join(_keys())}",
                field=key,
            )
    environment = _from_environment(env)
    without_file = {**environment, **command_line}
    folder = data_folder(str(without_file.get("store.data", _Sourced("", "")).value), env)
    written = _from_file(config, folder)
    merged = {**written, **environment, **command_line}
    data = data_folder(str(merged["store.data"].value) if "store.data" in merged else "", env)
    return Settings(data=data, **{name: _section(name, merged) for name in SECTIONS})


class _Sourced:
    """A value and its source, in words."""

    def __init__(self, value: Any, where: str) -> None:
        self.value, self.where = value, where


def _keys() -> dict[str, Any]:
    """Every key, like `server.port`, with its dataclass field."""
    keys: dict[str, Any] = {}
    for name, section in SECTIONS.items():
        for each in fields(section):
            keys[f"{name}.{each.name}"] = each
    return keys


def variable(key: str) -> str:
    """The name of the environment variable for a key."""
    return "SOULMEM_" + key.upper().replace(".", "_")


def _from_environment(env: Mapping[str, str]) -> dict[str, _Sourced]:
    keys = _keys()
    long_names = {variable(key): key for key in keys}
    values = {}
    for name, text in env.items():
        key = long_names.get(name) or SHORT_NAMES.get(name)
        if key is not None:
            values[key] = _Sourced(
                from_text(text, keys[key].type, key, f"the environment ({name})"), name
            )
        elif name.split("_")[:2] in [["SOULMEM", section.upper()] for section in SECTIONS]:
            raise ConfigError(
                f"the environment variable {name} is not a setting: see config.example.toml",
                field=name,
            )
    return values


def _from_file(config: Path | None, folder: Path) -> dict[str, _Sourced]:
    path = config or folder / FILE_NAME
    values = {}
    for section, table in _tables(path, may_be_missing=config is None).items():
        if section not in SECTIONS or not isinstance(table, dict):
            raise ConfigError(
                f"{path}: {section!r} is not a section of settings: the sections are {', '.join(SECTIONS)}",
                field=section,
            )
        for name, value in table.items():
            key = f"{section}.{name}"
            setting = _keys().get(key)
            if setting is None:
                names = ", ".join(each.name for each in fields(SECTIONS[section]))
                raise ConfigError(
                    f"{path}: {key} = {value!r} is not a setting: [{section}] has {names}",
                    field=key,
                )
            checked = from_toml(value, setting.type, key, str(path))
            values[key] = _Sourced(checked, str(path))
    return values


def _tables(path: Path, *, may_be_missing: bool) -> dict[str, Any]:
    """The content of the settings file. Raises ConfigError."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        if may_be_missing:
            return {}
        raise ConfigError(
            f"there is no settings file {path}: check the path after --config"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"the settings file {path} cannot be read: {error}") from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the settings file {path} is not valid TOML: {error}") from error


def _section(name: str, merged: Mapping[str, _Sourced]) -> Any:
    mine = {
        key.split(".")[1]: source for key, source in merged.items() if key.split(".")[0] == name
    }
    try:
        return SECTIONS[name](**{key: source.value for key, source in mine.items()})
    except ConfigError as error:
        key = (error.field or "").split(".")[-1]
        where = f"{mine[key].where}: " if key in mine else ""
        raise ConfigError(f"{where}{error.message}", field=error.field) from None
