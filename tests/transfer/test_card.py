"""Cards are read in every wrapping; other files are refused with a reason."""

from __future__ import annotations

import json
import zlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from soulmem.domain.errors import Unprocessable
from soulmem.domain.memories import MemoryKind
from soulmem.domain.soul import KnownName
from soulmem.transfer.card import card_data, card_name, read_card
from soulmem.transfer.lore import BrokenPart, Cast, Lore
from tests.transfer.cards import chunk, packed, picture, v2

CAST = Cast("Mira", "Ann")


def read(card: dict[str, Any], cast: Cast = CAST) -> Lore:
    return read_card(json.dumps(card).encode(), cast)


def texts(lore: Lore, part: str | None = None) -> list[str]:
    return [statement.text for statement in lore.statements if part in (None, statement.part)]


@pytest.mark.parametrize(
    "wrapped",
    [
        picture(chunk(b"tEXt", b"chara\x00" + packed(v2(description="Habit: keeps bees")))),
        picture(chunk(b"tEXt", b"Chara\x00" + packed(v2(description="Habit: keeps bees")))),
        picture(
            chunk(
                b"zTXt",
                b"chara\x00\x00" + zlib.compress(packed(v2(description="Habit: keeps bees"))),
            )
        ),
        picture(
            chunk(
                b"iTXt",
                b"chara\x00\x00\x00\x00\x00" + packed(v2(description="Habit: keeps bees")),
            )
        ),
        picture(
            chunk(
                b"iTXt",
                b"chara\x00\x01\x00en\x00c\x00"
                + zlib.compress(packed(v2(description="Habit: keeps bees"))),
            )
        ),
        picture(
            chunk(b"tEXt", b"chara\x00" + packed(v2(description="Habit: sings"))),
            chunk(
                b"tEXt",
                b"ccv3\x00"
                + packed({**v2(description="Habit: keeps bees"), "spec": "chara_card_v3"}),
            ),
        ),
        json.dumps(v2(description="Habit: keeps bees")).encode(),
        b"\xef\xbb\xbf" + json.dumps(v2(description="Habit: keeps bees")).encode(),
        json.dumps(
            {"name": "Mira", "description": "Habit: keeps bees", "first_mes": ""}
        ).encode(),  # version 1
    ],
)
def test_a_card_is_read_out_of_whatever_holds_it(wrapped: bytes) -> None:
    assert card_name(card_data(wrapped)) == "Mira"
    assert texts(read_card(wrapped, CAST)) == ["keeps bees"]


def test_what_stands_in_every_prompt_is_no_memory() -> None:
    lore = read(
        v2(
            description="{{char}} knows {{user}} well.",
            personality="Kind to all, stern with herself.",
            scenario="<USER> visits <BOT> in the harbour town.",
            first_mes='*The door opens.* "You came, {{user}}."\n\nRain falls on the roofs of the town.',
            mes_example="<START>\n{{user}}: Fears?\n{{char}}: Deep water.\n"
            "<START>\n{{user}}: Hm.\n{{char}}: Hm?",
            system_prompt="Write as {{char}}.",
            creator_notes="By me.",
        )
    )
    assert {
        part: texts(lore, part)
        for part in dict.fromkeys(statement.part for statement in lore.statements)
    } == {
        "examples": ["Ann: Fears?\nMira: Deep water.", "Ann: Hm.\nMira: Hm?"],
    }


def test_names_for_macros_and_names_of_the_greeting() -> None:
    lore = read(
        v2(
            scenario="The harbour town fears the old Captain Rolf more than the sea.",
            first_mes='*The door opens, and old Tomas Hale comes in.* "You are late, {{user}}."',
            character_book={"entries": [{"content": "<USER> visits <BOT> in {{char}}'s town."}]},
        )
    )
    assert texts(lore) == ["Ann visits Mira in Mira's town."]
    assert {"Captain Rolf", "Tomas Hale"} <= {names.name for names in lore.names}
    assert "Ann" not in {names.name for names in lore.names}


def test_habits_are_found_in_lists_of_traits() -> None:
    wpp = '[Character("Mira") { Age("23") Mind("kind" + "shy") Habit("counts stairs" + "hums") }]'
    assert texts(read(v2(description=wpp))) == ["counts stairs", "hums"]
    marked = "# Looks\n\n- Tall, **grey** eyes\n\n# Habits\n- Counts the stairs.\n- Hums at night."
    assert texts(read(v2(description=marked))) == ["Counts the stairs", "Hums at night"]


@pytest.mark.parametrize(
    "prose",
    [
        "She has one habit: never letting the lamp go out at night.",
        "Habits make the keeper, her father said: she has none.",
        "At 10:30 in the evening she winds the clock by hand.",
    ],
)
def test_prose_is_no_list_of_habits(prose: str) -> None:
    assert texts(read(v2(description=prose))) == []


def test_sentences_that_state_a_habit_are_proposals_and_no_memories() -> None:
    lore = read(
        v2(
            description="{{char}} keeps a lamp. Whenever {{user}} praises her, she denies caring.\n"
            "Quirks: bites her lip when nervous",
            personality="每当下雨，她就哼歌。When she was small, her mother left.",
        )
    )
    assert [(h.when, h.does, h.often.value) for h in lore.habits] == [
        ("Ann praises her", "denies caring", "always"),
        ("nervous", "bites her lip", "often"),
        ("下雨", "哼歌", "always"),
    ]
    assert texts(lore) == ["bites her lip when nervous"]


def test_habits_are_actions_and_only_those_that_say_so() -> None:
    lore = read(
        v2(
            description="Habits: hums when nervous; bites her lip\n"
            "习惯：数台阶；不背对着门\nHobby: old maps\n"
        )
    )
    assert [
        statement.text for statement in lore.statements if statement.kind is MemoryKind.ACTION
    ] == [
        "hums when nervous",
        "bites her lip",
        "数台阶",
        "不背对着门",
    ]
    assert {statement.kind for statement in lore.statements} == {MemoryKind.ACTION}


def test_names_come_from_keys_prose_brackets_and_lists_of_aliases() -> None:
    book = {
        "entries": [
            {"keys": ["青石镇", "Qingshi"], "content": "河的上游。", "enabled": True},
            {"keys": ["沈舟", "白鹤"], "content": "林月的师父。"},
            {
                "keys": ["forest", "eldoria", "/el.*a/i"],
                "content": "Eldoria is a forest realm.",
                "comment": "Eldoria",
            },
            {
                "keys": ["Aldric", "King Aldric"],
                "content": "He rules.",
                "enabled": True,
            },
        ]
    }
    lore = read(
        v2(
            name="Lin Yue",
            description="林月（Lin Yue）住在这里。\nNickname: Yue Yue, 小月\n"
            "The whole town knows that Tomas Hale, also known as Red, drowned off the Isle of Varn.",
            character_book=book,
        ),
        Cast("林月", "Ann"),
    )
    assert lore.names == tuple(
        KnownName(name, aliases, "card")
        for name, aliases in [
            ("林月", ("Lin Yue", "Yue Yue", "小月")),
            ("Tomas Hale", ("Red",)),
            ("Isle of Varn", ()),
            ("青石镇", ("Qingshi",)),
            ("沈舟", ()),
            ("白鹤", ()),
            ("Eldoria", ()),
            ("Aldric", ("King Aldric",)),
        ]
    )


@pytest.mark.parametrize(
    "line",
    [
        "SHE IS VERY ANGRY NOW",
        "A Kind And Brave Young Woman Of The North Sea",
        "loyal, Brave, Kind",
    ],
)
def test_capitals_alone_make_no_names(line: str) -> None:
    assert read(v2(description=line)).names == ()


def test_what_cannot_be_read_is_reported_and_stops_nothing() -> None:
    book = {
        "entries": [
            7,
            {"content": 5},
            {"keys": ["x"], "content": "Off.", "enabled": False},
            {"content": "On it is."},
        ]
    }
    lore = read(v2(description="Habit: keeps bees", scenario=["no text"], character_book=book))
    assert texts(lore) == ["keeps bees", "On it is."]
    assert set(lore.broken) == {
        BrokenPart("scenario", "no_text"),
        BrokenPart("character_book 1", "not_an_object"),
        BrokenPart("character_book 2", "no_text"),
    }
    assert lore.disabled == 1


def bomb() -> bytes:
    """A text that unpacks to 65 MiB."""
    pack = zlib.compressobj(9)
    return b"".join(pack.compress(bytes(1 << 20)) for _ in range(65)) + pack.flush()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (picture(), "carries no character"),
        (picture(chunk(b"tEXt", b"Comment\x00hello")), "carries no character"),
        (picture(chunk(b"tEXt", b"chara\x00abc")), "damaged"),
        (picture(chunk(b"tEXt", b"chara\x00aGVsbG8=")), "no JSON"),
        (picture(chunk(b"zTXt", b"chara\x00\x00nonsense")), "damaged"),
        (picture(chunk(b"zTXt", b"chara\x00\x00" + bomb())), "unpacks to more than"),
        (picture(chunk(b"tEXt", b"chara\x00" + packed(v2())))[:60], "cut off"),
        (b"RIFF\x00\x00\x00\x00WEBP", "no character card"),
        (b'{"name": "Mira", "description": "' + b"[" * 10, "no JSON"),
        (b"[" * 200_000, "nests too deep"),
        (b'{"name": " ", "description": "x"}', "names no character"),
        (b'{"data": {"description": "x"}}', "names no character"),
    ],
)
def test_what_is_no_card_is_refused_in_words(data: bytes, words: str) -> None:
    with pytest.raises(Unprocessable, match=words):
        read_card(data, CAST)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
# fmt: off
BITS = [
    "Mira", "{{user}}", "{{char}}: ", "\n",
    "\n\n", ". ", "：", ": ", "- ", "# ", "[", "]", '("', '" + "', '")',
    "习惯", "Habit", "a", " b ", "。", "”", "Harrow", "（", "）", "<START>", "{{//", "}}", "Dr.", "1. ",
]
# fmt: on
PROSE = st.lists(st.sampled_from(BITS), max_size=30).map("".join)


@given(
    st.fixed_dictionaries(
        {"name": st.just("Mira"), "description": PROSE},
        optional={
            "personality": PROSE | JSON,
            "mes_example": PROSE | JSON,
            "first_mes": PROSE,
            "nickname": JSON,
            "character_book": st.fixed_dictionaries(
                {
                    "entries": st.lists(
                        st.dictionaries(
                            st.sampled_from(["keys", "content", "comment", "enabled"]),
                            JSON | PROSE,
                        )
                    )
                    | JSON
                }
            ),
        },
    )
)
def test_any_card_is_read_without_a_fault(card: dict[str, Any]) -> None:
    lore = read_card(json.dumps(v2(**card)).encode(), CAST)
    assert all(statement.text.strip() for statement in lore.statements)
    assert all(len(names.name) >= 2 for names in lore.names)
    assert len({names.name.casefold() for names in lore.names}) == len(lore.names)
    assert lore == read_card(json.dumps(v2(**card)).encode(), CAST)


@given(
    st.text(
        alphabet=st.characters(codec="utf-8", categories=["L", "N", "Zs"]),
        min_size=1,
        max_size=200,
    )
)
def test_no_word_of_a_book_is_lost(text: str) -> None:
    stated = " ".join(texts(read(v2(character_book={"entries": [{"content": text}]}))))
    assert [word for word in text.split() if word not in stated] == []
