"""Checks and converts the value of a setting from TOML or from text."""

from __future__ import annotations

from typing import Any

from soulmem.config.errors import ConfigError

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
    if (
        kind == "float"
        and isinstance(value, int | float)
        and not isinstance(value, bool)
    ):
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
    raise ConfigError(
        f"{where}: {key} = {text!r} is of the wrong type: write {remedy}", field=key
    )
