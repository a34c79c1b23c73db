"""Where the values of settings come from: the file, then the environment, then the command line."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from soulmem.config.errors import ConfigError
from soulmem.config.paths import data_folder
from soulmem.config.settings import SECTIONS, Settings
from soulmem.config.values import from_text, from_toml

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE_NAME = "config.toml"
# They did nothing in earlier versions: whoever copied config.example.toml has them, and starts all the same.
RETIRED = frozenset({"llm.lead_base_url", "llm.lead_model", "llm.lead_api_key"})
# Two settings are so often given by environment that they have a short name too.
SHORT_NAMES = {"SOULMEM_DATA": "store.data", "SOULMEM_TOKEN": "server.token"}


def load(
    config: Path | None = None,
    *,
    env: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> Settings:
    """All settings. Later sources win: defaults, file, environment, `overrides` (`{"server.port": 8000}`).

    The file is `config`, which must exist, or `config.toml` in the data folder, which need not. Raises
    ConfigError for an unknown key, a wrong type or a value out of range.
    """
    env = os.environ if env is None else env
    command_line = {
        key: _Given(value, f"the command line ({key})")
        for key, value in (overrides or {}).items()
    }
    for key in command_line:
        if key not in _keys():
            raise ConfigError(
                f"{key!r} is no setting: known are {', '.join(_keys())}", field=key
            )
    environment = _from_environment(env)
    folder = data_folder(
        str({**environment, **command_line}.get("store.data", _Given("", "")).value),
        env,
    )
    written = _from_file(config, folder)
    merged = {**written, **environment, **command_line}
    data = data_folder(
        str(merged["store.data"].value) if "store.data" in merged else "", env
    )
    return Settings(data=data, **{name: _section(name, merged) for name in SECTIONS})


class _Given:
    """A value and where it was said."""

    def __init__(self, value: Any, where: str) -> None:
        self.value, self.where = value, where


def _keys() -> dict[str, Any]:
    """Every key with its field."""
    return {
        f"{name}.{each.name}": each
        for name, section in SECTIONS.items()
        for each in fields(section)
    }


def variable(key: str) -> str:
    """The environment variable of a key."""
    return "SOULMEM_" + key.upper().replace(".", "_")


def _from_environment(env: Mapping[str, str]) -> dict[str, _Given]:
    keys = _keys()
    long_names = {variable(key): key for key in keys}
    values = {}
    for name, text in env.items():
        key = long_names.get(name) or SHORT_NAMES.get(name)
        if key is not None:
            values[key] = _Given(
                from_text(text, keys[key].type, key, f"the environment ({name})"), name
            )
        elif name in map(variable, RETIRED):
            continue
        elif name.split("_")[:2] in [
            ["SOULMEM", section.upper()] for section in SECTIONS
        ]:
            raise ConfigError(
                f"the environment variable {name} names no setting: see config.example.toml",
                field=name,
            )
    return values


def _from_file(config: Path | None, folder: Path) -> dict[str, _Given]:
    path = config or folder / FILE_NAME
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (FileNotFoundError, NotADirectoryError):
        if config is None:
            return {}
        raise ConfigError(
            f"there is no settings file {path}: check the path after --config"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"the settings file {path} cannot be read: {error}"
        ) from error
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"the settings file {path} is no TOML: {error}") from error
    values = {}
    for section, table in tables.items():
        if section not in SECTIONS or not isinstance(table, dict):
            raise ConfigError(
                f"{path}: {section!r} is no section of settings: known are {', '.join(SECTIONS)}",
                field=section,
            )
        for name, value in table.items():
            key = f"{section}.{name}"
            if key in RETIRED:
                continue
            setting = _keys().get(key)
            if setting is None:
                names = ", ".join(each.name for each in fields(SECTIONS[section]))
                raise ConfigError(
                    f"{path}: {key} = {value!r} is no setting: [{section}] has {names}",
                    field=key,
                )
            values[key] = _Given(
                from_toml(value, setting.type, key, str(path)), str(path)
            )
    return values


def _section(name: str, merged: Mapping[str, _Given]) -> Any:
    mine = {
        key.split(".")[1]: source
        for key, source in merged.items()
        if key.split(".")[0] == name
    }
    try:
        return SECTIONS[name](**{key: source.value for key, source in mine.items()})
    except ConfigError as error:
        key = (error.field or "").split(".")[-1]
        where = f"{mine[key].where}: " if key in mine else ""
        raise ConfigError(f"{where}{error.message}", field=error.field) from None
