"""Words the error for a request that breaks a rule: the field, the value, and what to send instead."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import inspect

from soulmem.domain.errors import Unprocessable
from soulmem.domain.ids import ID_PATTERN
from soulmem.domain.phrases import Phrase, Wording, phrase
from soulmem.server.common_types import CURSOR_PATTERN, DIGEST_PATTERN, HASH_PATTERN

Step = str | int | None  # a key, an index, or None for an unnamed key of a map
_ERROR = re.compile(
    r"(?P<what>.*?)(?: - at (?:`(?P<of>key|[^`$]*)` in )?`(?P<path>\$[^`]*)`)?\Z",
    re.DOTALL,
)
_STEP = re.compile(r"\.(?P<key>[^.\[\]]+)|\[(?P<index>\d+)\]|\[\.\.\.\]")
_FIELD_NAME = re.compile(
    r"Object (?P<how>missing required|contains unknown) field `(?P<name>.*)`\Z",
    re.DOTALL,
)
_BOUND = re.compile(
    r"Expected `(?P<type>\w+)`(?P<length> of length)? (?P<sign><=|>=|<|>) (?P<bound>\S+)\Z"
)
_REGEX = re.compile(r"Expected `str` matching regex (?P<pattern>.*)\Z", re.DOTALL)
_REMEDIES = {
    repr(ID_PATTERN): "is not an id: use 1 to 64 of A-Z a-z 0-9 _ -",
    repr(
        HASH_PATTERN
    ): "is not a hash: send the first 16 hex digits, in lower case, of the text's SHA-256",
    repr(DIGEST_PATTERN): "is not a digest: send the 64 hex digits, in lower case, of a SHA-256",
    repr(CURSOR_PATTERN): "is not a cursor: send the one of the page before, or leave it out",
}
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
    "datetime": "a time like 2024-03-01T12:00:00Z",
}
_MISSING = object()


def unprocessable(error: msgspec.ValidationError, shape: type, sent: Any) -> Unprocessable:
    """The error in plain words. `sent` is the decoded request; None if it cannot be decoded."""
    match = _ERROR.match(str(error))
    assert match is not None
    what, path_text = match["what"], match["path"] or "$"
    steps = _steps(path_text)
    field_name = _FIELD_NAME.match(what)
    if field_name:
        return _name_error(field_name["how"], field_name["name"], steps, shape)
    value = _walk(sent, steps)
    quoted = "the value" if value is _MISSING else _quoted(value)
    path = _path(steps)
    return Unprocessable(
        phrase(
            "value_refused",
            "{path}: {value} {remedy}",
            path=path or "the body",
            value=quoted,
            remedy=_remedy(what, value, steps, shape),
        ),
        field=path or None,
    )


def _name_error(how: str, name: str, steps: list[Step], shape: type) -> Unprocessable:
    """The error for a field that is missing or unknown."""
    path = _path([*steps, name[:80]])
    if how == "missing required":
        return Unprocessable(
            phrase("field_missing", "'{name}' is missing: send it", name=name),
            field=path,
        )
    field_names = _field_names(_type_at(shape, steps))
    near = difflib.get_close_matches(name[:80], field_names, 1)
    if near:
        advice = phrase("field_near", "did you mean '{name}'?", name=near[0])
    elif field_names:
        advice = phrase("field_names", "the fields are {names}", names=", ".join(field_names))
    else:
        advice = phrase("field_none", "there are no fields here")
    return Unprocessable(
        phrase(
            "field_unknown",
            "'{name}' is not known here: {advice}",
            name=name[:80],
            advice=advice,
        ),
        field=path,
    )


def _remedy(what: str, value: Any, steps: Sequence[Step], shape: type) -> Wording:
    regex = _REGEX.match(what)
    if regex:
        return _REMEDIES.get(regex["pattern"], f"does not match {regex['pattern']}")
    bound = _BOUND.match(what)
    if bound:
        return _bound_remedy(bound, value)
    if what.startswith("Invalid enum value"):
        return phrase(
            "value_unknown",
            "is not known: send one of {choices}",
            choices=", ".join(_choices(_type_at(shape, steps))),
        )
    if "RFC3339" in what:
        return phrase("value_no_time", "is not a time: send one like 2024-03-01T12:00:00Z")
    if "timezone" in what:
        return phrase("value_no_zone", "has no time zone: add Z or one like +01:00")
    if what.startswith("Expected `"):
        wanted = re.findall(r"[a-z]+", what.split("`")[1])
        return phrase(
            "value_type",
            "is of the wrong type: send {wanted}",
            wanted=" or ".join(_WORDS.get(w, w) for w in wanted),
        )
    return f"is refused: {what}"


def _bound_remedy(bound: re.Match[str], value: Any) -> Phrase:
    """For a number, or the length of a text or list, beyond its bound."""
    is_least, limit = ">" in bound["sign"], bound["bound"]
    if not bound["length"]:
        if is_least:
            return phrase("value_small", "is out of range: send at least {limit}", limit=limit)
        return phrase("value_large", "is out of range: send at most {limit}", limit=limit)
    length = len(value) if isinstance(value, str | list | dict) else "?"
    if is_least:
        return phrase(
            "value_short",
            "is {length} long: send at least {limit}",
            length=length,
            limit=limit,
        )
    return phrase(
        "value_long",
        "is {length} long: send at most {limit}",
        length=length,
        limit=limit,
    )


def _steps(path_text: str) -> list[Step]:
    return [_step(match) for match in _STEP.finditer(path_text)]


def _step(match: re.Match[str]) -> Step:
    if match["key"]:
        return match["key"]
    return int(match["index"]) if match["index"] else None


def _path(steps: Sequence[Step]) -> str:
    """A path like `messages[0].slot`; unnamed keys of a map are left out."""
    path = ""
    for step in steps:
        if isinstance(step, int):
            path += f"[{step}]"
        elif step is not None:
            path += f".{step}" if path else step
    return path


def _walk(value: Any, steps: Sequence[Step]) -> Any:
    for step in steps:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return _MISSING
    return value


def _quoted(value: Any) -> str:
    text = msgspec.json.encode(value).decode("utf-8", "replace")
    return text if len(text) <= 80 else text[:80] + "..."


def _type_at(shape: type, steps: Sequence[Step]) -> Any:
    """The type of the value at `steps`; of a union, the member that has the next step."""
    node: Any = inspect.type_info(shape)
    for step in steps:
        options = [_child(option, step) for option in _options(node)]
        node = next((option for option in options if option is not None), None)
        if node is None:
            return None
    return node


def _child(node: Any, step: Step) -> Any:
    if isinstance(node, inspect.StructType):
        return next((f.type for f in node.fields if f.encode_name == step), None)
    if isinstance(node, inspect.ListType):
        return node.item_type if isinstance(step, int) else None
    return node.value_type if isinstance(node, inspect.DictType) else None


def _options(node: Any) -> Sequence[Any]:
    return node.types if isinstance(node, inspect.UnionType) else (node,)


def _field_names(node: Any) -> list[str]:
    names: list[str] = []
    for option in _options(node):
        if isinstance(option, inspect.StructType):
            names += [field.encode_name for field in option.fields]
    return names


def _choices(node: Any) -> list[str]:
    values: list[str] = []
    for option in _options(node):
        if isinstance(option, inspect.EnumType):
            values += [member.value for member in option.cls]
    return values
