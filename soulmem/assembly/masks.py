"""How a text reads whose parts have blurred: with words for them, or with masks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from soulmem.domain.micro_units import MASK, Anchor, MicroUnit
from soulmem.language.scripts import is_unspaced

Stretch = tuple[int, int]  # from a character of a text to the one after the last

_OPENING = dict(zip(")）]】}」』》”»", "(（[【{「『《“«", strict=True))
_OPENERS = frozenset(_OPENING.values())
_BRACKET = re.compile("[()（）\\[\\]【】{}「」『』《》“”«»]")
WORD = re.compile(r"[^\W_]")  # a letter or digit
# Masks of the same wording with nothing but the ends of clauses between them read as one.
_REPEATED = re.compile(
    rf"(?P<mask>{MASK}(?:\([^()]*\)|（[^（）]*）)?)(?:[\s,，、;；.。!?！？…]+(?P=mask)(?![\w(（]))+"
)
GAP = "…"  # in place of words that have faded altogether, where a text reads in words
_GAPS = re.compile(rf"{GAP}(?:[\s,，、;；.。!！?？]*{GAP})*[.。]?")
_BETWEEN = re.compile(r"[\s,，、;；.。!?！？…]+")  # of clauses


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The visibility, 0..1, from which a unit is clear, and from which its gist is told; design 6."""

    clear: float = 0.6
    gist: float = 0.25


@dataclass(frozen=True, slots=True)
class ReadOut:
    """A text as it reads now."""

    text: str
    is_masked: bool = False
    is_empty: bool = False  # no word of the text is left, and nothing that it tells of


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A stretch that is blurred, with the gist that is told instead."""

    start: int
    end: int
    gist: str
    is_detail: bool


def read_out(
    text: str,
    units: Iterable[MicroUnit],
    anchors: Iterable[Anchor] = (),
    kept: Iterable[Stretch] = (),
    *,
    said: Iterable[Stretch] = (),
    frame: str = "",
    label: int = 0,
    thresholds: Thresholds | None = None,
) -> ReadOut:
    """The text with `xxx(gist)` for a unit that is not clear, and `xxx` where its gist is gone, too.

    units    with their visibility as of now; what is outside all of them is clear
    anchors  words that stay within a blurred unit as long as they are clear themselves
    kept     stretches that stay in any case
    said     stretches that stay as others say them at this moment; they leave nothing of the text
    frame    "something about {}": a gist stands in the sentence, that of a clause within the frame, and `…`
             where it is gone, without masks; gists of clauses side by side share one; empty: with masks
    label    characters of the name of who speaks, in front of the text

    The outermost blurred unit hides everything in it but these; of units that overlap the first tells its
    gist. A bracket whose other half is outside of what is hidden stays.
    """
    limits = thresholds or Thresholds()
    hidden = _hidden(units, limits)
    if not hidden:
        return ReadOut(text)
    left = [*_anchored(text, anchors, limits), *kept]
    shown = [*left, *said]
    words_for = _Wording(frame, is_wide=is_unspaced(text))
    out, before = list[str](), 0
    is_masked, is_empty = False, True
    listed = list[str]()  # gists inside the frame that was written last
    for part in hidden:
        between = text[before : part.start]
        out.append(between)
        is_empty = is_empty and not WORD.search(text, max(before, label), part.start)
        pieces = list(_pieces(part, shown))
        is_bare = not any(is_shown for _, is_shown in pieces)
        has_mask, words = _masked(text, pieces, words_for, part, is_bare=is_bare)
        framed = words_for.framed(part)
        if words != framed:
            listed = []
        elif listed and _BETWEEN.fullmatch(between):
            del out[-2:]
            listed = list(dict.fromkeys((*listed, part.gist)))
            words = words_for.of_all(listed)
        else:
            listed = [part.gist]
        out.append(words)
        is_masked = is_masked or has_mask
        # That there was a name or a number says nothing by itself.
        is_told = bool(part.gist) and not part.is_detail
        is_told = is_told or any(s < part.end and part.start < e for s, e in left)
        is_empty = is_empty and not is_told
        before = part.end
    out.append(text[before:])
    is_empty = is_empty and not WORD.search(text, max(before, label))
    return ReadOut(words_for.joined("".join(out)), is_masked, is_empty)


def _hidden(units: Iterable[MicroUnit], limits: Thresholds) -> list[_Hidden]:
    """What is blurred, in order and without overlap: nested and overlapping units as one stretch."""
    blurred = [unit for unit in units if unit.retention.visibility < limits.clear]
    blurred.sort(key=lambda unit: (unit.span.start, -unit.span.end))
    out: list[_Hidden] = []
    for unit in blurred:
        span = unit.span
        if out and span.start < out[-1].end:
            out[-1] = replace(out[-1], end=max(out[-1].end, span.end))
        else:
            gist = span.gist if unit.retention.visibility >= limits.gist else ""
            out.append(_Hidden(span.start, span.end, gist, span.is_detail))
    return out


@dataclass(frozen=True, slots=True)
class _Wording:
    """What stands in place of hidden words."""

    frame: str
    is_wide: bool

    def first(self, part: _Hidden) -> str:
        """For the first of the words of a stretch."""
        if not self.frame:
            return MASK + _in_brackets(part.gist, is_wide=self.is_wide)
        if not part.gist or part.is_detail:
            return part.gist or GAP
        return self.of_all([part.gist])

    def framed(self, part: _Hidden) -> str | None:
        """The frame with the gist of a clause; None where nothing is put into it."""
        is_topic = self.frame and part.gist and not part.is_detail
        return self.of_all([part.gist]) if is_topic else None

    def of_all(self, gists: Sequence[str]) -> str:
        """The frame with these gists."""
        return self.frame.replace("{}", ("、" if self.is_wide else ", ").join(gists))

    def other(self) -> str:
        """For words behind some that stay."""
        return GAP if self.frame else MASK

    def joined(self, text: str) -> str:
        """The text with what says the same twice said once."""
        if self.frame:
            return _GAPS.sub(GAP, text)
        return _REPEATED.sub(r"\g<mask>", text)


def _anchored(text: str, anchors: Iterable[Anchor], limits: Thresholds) -> Iterator[Stretch]:
    """Where the words of clear anchors stand, each time."""
    for anchor in anchors:
        if anchor.retention.visibility >= limits.clear:
            yield from places_of(anchor.text, text)


def places_of(words: str, text: str) -> Iterator[Stretch]:
    """Where the words stand in the text, each time; nowhere where there are none."""
    start = text.find(words) if words else -1
    while start >= 0:
        end = start + len(words)
        yield start, end
        start = text.find(words, end)


def _pieces(part: _Hidden, shown: Sequence[Stretch]) -> Iterator[tuple[Stretch, bool]]:
    """The blurred stretch cut at what stays of it; True of a piece that stays."""
    before = part.start
    for start, end in sorted(shown):
        start, end = max(start, before), min(end, part.end)
        if start < end:
            if before < start:
                yield (before, start), False
            yield (start, end), True
            before = end
    if before < part.end:
        yield (before, part.end), False


def _masked(
    text: str,
    pieces: Sequence[tuple[Stretch, bool]],
    words_for: _Wording,
    part: _Hidden,
    *,
    is_bare: bool,
) -> tuple[bool, str]:
    """The pieces with masks for the words that do not stay, the first with the gist; whether there is one."""
    out: list[str] = []
    mask, has_mask = words_for.first(part), False
    for place, ((start, end), is_shown) in enumerate(pieces):
        if is_shown or not (is_bare or WORD.search(text, start, end)):
            out.append(text[start:end])
            continue
        # Beside words that stay the marks stay, too.
        first, last = (start, end) if is_bare else _words_within(text, start, end)
        before, behind = _unpaired(text[first:last])
        if words_for.is_wide and mask == words_for.framed(part):
            # Nothing else parts it from words that stay
            before = GAP * (place > 0 and first == start) + before
            behind += GAP * (place + 1 < len(pieces) and last == end)
        out.append(text[start:first] + before + mask + behind + text[last:end])
        mask, has_mask = words_for.other(), True
    return has_mask, "".join(out)


def _words_within(text: str, start: int, end: int) -> Stretch:
    """From the first to the last letter or digit of a stretch that has one."""
    places = [match.start() for match in WORD.finditer(text, start, end)]
    return places[0], places[-1] + 1


def _in_brackets(gist: str, *, is_wide: bool) -> str:
    if not gist:
        return ""
    if _unpaired(gist) != ("", ""):
        gist = _BRACKET.sub("", gist)
    return f"（{gist}）" if is_wide else f"({gist})"


def _unpaired(words: str) -> tuple[str, str]:
    """The brackets and quotation marks whose other half is not in the words, before and behind a mask for them."""
    opened: list[str] = []
    closed: list[str] = []
    for match in _BRACKET.finditer(words):
        sign = match.group()
        if sign in _OPENERS:
            opened.append(sign)
        elif opened and opened[-1] == _OPENING[sign]:
            opened.pop()
        else:
            closed.append(sign)
    quote = '"' * (words.count('"') % 2)
    if not closed:
        return "".join(opened), quote
    if not opened:
        return "", "".join(closed) + quote
    return "".join(closed), quote + "".join(opened)
