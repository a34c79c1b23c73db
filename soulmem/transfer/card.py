"""Reads a character card, PNG or JSON, of version 1, 2 or 3, as statements and names."""

from __future__ import annotations

import base64
import binascii
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from soulmem.domain.errors import Unprocessable
from soulmem.domain.memories import MemoryKind
from soulmem.domain.phrases import phrase
from soulmem.domain.soul import KnownName
from soulmem.domain.texts import well_formed
from soulmem.language.card_words import is_habit_heading, is_own_name_key
from soulmem.language.habit_sentences import (
    StatedHabit,
    stated_habit,
    without_repeats,
)
from soulmem.language.segmentation import sentences
from soulmem.transfer.book import read_entries
from soulmem.transfer.files import json_object
from soulmem.transfer.foreign_chats import check_no_foreign_chat
from soulmem.transfer.lore import CARD, BrokenPart, Cast, Lore, Statement
from soulmem.transfer.name_finder import names_in, own_names, united
from soulmem.transfer.png import SIGNATURE, png_texts
from soulmem.transfer.statements import (
    dialogue,
    examples,
    has_dialogue,
    plain,
    statements,
)

# Fields that SillyTavern puts into every prompt: of these only names and habits are read.
_IN_PROMPT = ("description", "personality", "scenario")
_FIELDS = frozenset({*_IN_PROMPT, "first_mes", "mes_example"})
_NAME = 200  # characters
_MOST_BYTES = 64 << 20  # of the card in an archive, unpacked
_URL_SAFE = bytes.maketrans(b"-_", b"+/")
# How older programs name the fields of a card.
_OLD_FIELDS = {
    "char_name": "name",
    "char_persona": "description",
    "world_scenario": "scenario",
    "char_greeting": "first_mes",
    "example_dialogue": "mes_example",
}


def is_packed(data: bytes) -> bool:
    """Whether a file can hold a card inside: a picture of the kind PNG, an archive (.charx)."""
    return data.startswith(SIGNATURE) or zipfile.is_zipfile(io.BytesIO(data))


def is_card(fields: dict[str, Any]) -> bool:
    """Whether an object has the fields of a card, whatever they hold."""
    return not (_FIELDS | _OLD_FIELDS.keys()).isdisjoint(fields)


def card_data(data: bytes) -> dict[str, Any]:
    """The object of the card's fields, with at least a name. Raises Unprocessable for another file."""
    whole = json_object(_json_of(data))
    check_no_foreign_chat(whole)
    inner = whole.get("data")
    card = inner if isinstance(inner, dict) else whole
    if not is_card(card):
        raise _no_card()
    for old, new in _OLD_FIELDS.items():
        if old in card and new not in card:
            card[new] = card[old]
    name = card.get("name")
    if not isinstance(name, str) or not name.strip():
        raise Unprocessable(
            phrase(
                "card_no_name",
                "the card names no character: name it in SillyTavern, then export it again",
            ),
            field="text",
        )
    return card


def card_name(card: dict[str, Any]) -> str:
    """The name of the character."""
    return well_formed(str(card["name"])).strip()[:_NAME]


def read_card(data: bytes, cast: Cast) -> Lore:
    """The lore of a card: its book, examples, habits and names. The character's name in chats is
    `cast.character`. Raises Unprocessable.
    """
    card = card_data(data)
    texts, broken = _texts(card)
    name = card_name(card)
    own = [cast.character, name]
    if isinstance(card.get("nickname"), str):
        own += own_names(well_formed(card["nickname"]))
    stated: list[Statement] = []
    habits: list[StatedHabit] = []
    names: list[KnownName] = []
    for field in _IN_PROMPT:
        text = texts.get(field, "")
        for key, piece in _parts(text, cast):
            if key is not None and is_own_name_key(key):
                own += own_names(piece)
            stated += _habits(key, piece, field)
            habits += _stated_habits(key, piece, own)
            names += names_in(piece, is_prose=key is None)
    for line in plain(texts.get("first_mes", ""), cast).split("\n"):
        names += names_in(line.strip())
    stated += [
        Statement(piece, "examples") for piece in examples(texts.get("mes_example", ""), cast)
    ]
    book = card.get("character_book")
    inside = Lore(name)
    if isinstance(book, dict) and isinstance(book.get("entries"), dict | list):
        inside = read_entries(book["entries"], name, "book", cast, CARD)
        for entry in inside.broken:
            broken.append(BrokenPart(f"character_book {entry.where}", entry.reason))
    every = united([*names, *inside.names], list(dict.fromkeys(own)), cast.user, CARD)
    return Lore(
        name,
        (*stated, *inside.statements),
        every,
        tuple(broken),
        inside.disabled,
        tuple(without_repeats(habits)),
        inside.instructions,
    )


def _texts(card: dict[str, Any]) -> tuple[dict[str, str], list[BrokenPart]]:
    """The text fields of the card, and those whose value is not a text."""
    texts: dict[str, str] = {}
    broken: list[BrokenPart] = []
    for field in _FIELDS:
        value = card.get(field)
        if isinstance(value, str):
            texts[field] = well_formed(value)
        elif field in card:
            broken.append(BrokenPart(field, "no_text"))
    return texts, broken


def _json_of(data: bytes) -> bytes:
    """The JSON of a card, also from inside a picture or an archive."""
    if not data.startswith(SIGNATURE):
        if is_packed(data):
            return _archived(data)
        if data.startswith((b"\xff\xd8\xff", b"RIFF", b"PK")):  # other pictures, torn archives
            raise _no_card()
        return data
    texts = png_texts(data, frozenset({"chara", "ccv3"}))
    packed = texts.get("ccv3") or texts.get("chara")
    if packed is None:
        raise Unprocessable(
            phrase(
                "picture_no_card",
                "the picture carries no character: export the card from SillyTavern",
            ),
            field="base64",
        )
    if packed.lstrip().startswith(b"{"):
        return packed
    letters = b"".join(packed.split()).translate(_URL_SAFE).rstrip(b"=")
    try:
        card = base64.b64decode(letters + b"=" * (-len(letters) % 4), validate=True)
        card.decode()
    except (binascii.Error, ValueError) as error:
        raise Unprocessable(
            phrase(
                "picture_card_damaged",
                "the character in the picture is damaged ({error}): export it again",
                error=error,
            ),
            field="base64",
        ) from error
    return card


def _no_card() -> Unprocessable:
    return Unprocessable(
        phrase(
            "file_no_card",
            "the file is no character card: export the character from SillyTavern as PNG or JSON",
        ),
        field="text",
    )


def _archived(data: bytes) -> bytes:
    """The card in an archive (.charx)."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if "card.json" not in archive.namelist():
                raise Unprocessable(
                    phrase(
                        "archive_no_card",
                        "the archive holds no card.json: export the character from SillyTavern as PNG or JSON",
                    ),
                    field="base64",
                )
            with archive.open("card.json") as file:
                card = file.read(_MOST_BYTES + 1)
    except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, OSError) as error:
        raise Unprocessable(
            phrase(
                "archive_damaged",
                "the archive cannot be unpacked ({error}): export the card again",
                error=error,
            ),
            field="base64",
        ) from error
    if len(card) > _MOST_BYTES:
        raise Unprocessable(
            phrase(
                "archive_too_large",
                "the card in the archive unpacks to more than {most} bytes: export it again",
                most=_MOST_BYTES,
            ),
            field="base64",
        )
    return card


def _parts(text: str, cast: Cast) -> Iterable[tuple[str | None, str]]:
    if has_dialogue(text):
        return dialogue(text, cast)
    return statements(text, cast)


def _stated_habits(key: str | None, piece: str, names: Sequence[str]) -> Iterator[StatedHabit]:
    """The habits that the sentences of a part state."""
    is_listed = key is not None and is_habit_heading(key)
    parts = _listed(piece) if is_listed else sentences(piece)
    for part in parts:
        habit = stated_habit(part, names, is_listed=is_listed)
        if habit is not None:
            yield habit


def _listed(piece: str) -> list[str]:
    """The single entries of a list of habits."""
    parts = re.split(r"[;；\n]|(?<=[a-z]), (?=[a-z])|、", piece)
    return [part.strip(" .。") for part in parts]


def _habits(key: str | None, piece: str, part: str) -> list[Statement]:
    """The single habits of a part whose key is a heading of habits."""
    if key is None or not is_habit_heading(key):
        return []
    return [Statement(habit, part, MemoryKind.ACTION) for habit in _listed(piece) if habit]
