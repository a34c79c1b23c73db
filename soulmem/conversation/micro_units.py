"""Micro-units of a text: its clauses, and the names, numbers, days, places and quotations in them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace

from soulmem.domain.micro_units import UnitSpan
from soulmem.language.clauses import Stretch, clauses
from soulmem.language.details import Detail, DetailKind, details
from soulmem.language.general_rarity import share_of_rare_words, tokens_of
from soulmem.language.gists import gist_language, topic_of, type_words
from soulmem.language.importance_cues import feeling_words, has_vow_or_date
from soulmem.language.scripts import is_unspaced

# Parts of the salience of a clause: how rare its words are, and what a listener remembers longest.
_RARITY, _FEELING, _VOW = 0.7, 0.15, 0.15
_LEAST_OF_DETAIL = 0.25  # salience: a name or a number says something in any clause
_LONGEST_GIST = 60  # characters; a gist says less than what it stands for


def unit_spans(
    text: str,
    names: Mapping[str, str | None],
    place: str | None = None,
    start: int = 0,
    new_names: Collection[str] = (),
) -> tuple[UnitSpan, ...]:
    """The units of a text from `start` on, in code points, outer ones first; a function of the arguments alone.

    names      known ones that may stand in the text, with what is told of each instead; "" for a type word, None
               for one that nobody forgets: its own, and those of whom it talks with
    place      where the text says that it happens
    start      behind the label of who speaks, which belongs to no unit
    new_names  that the text gives and nobody knows; of a script without spaces they are no details, as half of
               them are ordinary words

    Texts in other languages than English, Chinese and Japanese have clauses only, without gists.
    """
    language = gist_language(text[start:])
    inside = []
    if language is not None:
        kinds: dict[str, DetailKind | None] = {
            n: DetailKind.NAME for n in new_names if not is_unspaced(n)
        }
        for name, description in names.items():
            kinds[name] = None if description is None else DetailKind.PERSON
        inside = details(text, kinds, place, start)
    out: list[UnitSpan] = []
    for clause in clauses(text, start):
        mine = [d for d in inside if clause[0] <= d.start and d.end <= clause[1]]
        units = list(_detail_units(mine, names, language)) if language else []
        out += _nested(_clause_unit(text, clause, mine, names, language), units)
    return tuple(out)


def _clause_unit(
    text: str,
    clause: Stretch,
    inside: Iterable[Detail],
    names: Iterable[str],
    language: str | None,
) -> UnitSpan:
    start, end = clause
    words = text[start:end]
    tokens = tokens_of(words)
    gist = ""
    if language is not None:
        # Details go before what is told of them.
        rest = words
        for hidden in (*(text[d.start : d.end] for d in inside), *names):
            rest = rest.replace(hidden, ", ") if hidden else rest
        gist = topic_of(rest)
    salience = _RARITY * share_of_rare_words(tokens, language or "")
    salience += _FEELING * (feeling_words(words) > 0) + _VOW * has_vow_or_date(words)
    return UnitSpan(start, end, gist, salience=round(min(salience, 1.0), 4))


def _detail_units(
    inside: Iterable[Detail], names: Mapping[str, str | None], language: str
) -> Iterator[UnitSpan]:
    types = type_words(language)
    for detail in inside:
        description = _short_gist(names.get(detail.name) or "", detail.name)
        gist = description or types[detail.kind.value]
        yield UnitSpan(detail.start, detail.end, gist, is_detail=True)


def _nested(clause: UnitSpan, inside: Iterable[UnitSpan]) -> Iterator[UnitSpan]:
    """The clause, then its details, as salient as it; a clause that is a detail is one."""
    rest = list[UnitSpan]()
    for detail in inside:
        salience = max(clause.salience, _LEAST_OF_DETAIL)
        detail = replace(detail, salience=salience)
        if (detail.start, detail.end) == (clause.start, clause.end):
            clause = detail
        else:
            rest.append(detail)
    return iter([clause, *rest])


def _short_gist(description: str, name: str) -> str:
    """The first words of a description that fit; "" where they say the name."""
    line = " ".join(description.split()).strip(" .。")
    if len(line) > _LONGEST_GIST:
        parts = clauses(line[:_LONGEST_GIST])
        line = line[: parts[0][1]] if parts else ""
    return "" if name.casefold() in line.casefold() else line
