"""A chat with scenes of four kinds among others, and a model that names them as a person would."""

from __future__ import annotations

import json
from collections.abc import Callable

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.llm import Prompt
from soulmem.domain.memories import Memory, MemoryKind, Origin
from soulmem.engine.engine import Engine
from soulmem.engine.vectors.embedder import ModelSource
from soulmem.engine.wiring import Ports, wire_engine
from tests.consolidation.scenes import LIKE, OTHER
from tests.engine.model_stage import ModelStage, obliging, read_of
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import line
from tests.fakes.embedder import FakeEmbedder

NAMED = {
    "en": {
        "rain": "walking in the rain",
        "money": "quarrels about money",
        "cooking": "cooking together",
        "nightmare": "waking from a nightmare",
    },
    "zh": {
        "rain": "在雨中行走",
        "money": "为钱争吵",
        "cooking": "一起做饭",
        "nightmare": "从噩梦中惊醒",
    },
}
_GO_ON = {"en": "Hm.", "zh": "嗯。"}


def story(language: str = "en", *kinds: str) -> list[SentMessage]:
    """Scenes of these kinds, or of all four, far apart and followed each by a word of the user's."""
    like = [texts for kind, texts in LIKE[language].items() if kind in (kinds or LIKE[language])]
    told = [scene for turn in range(5) for texts in like for scene in texts[turn : turn + 1]]
    mixed = list(OTHER[language])
    for at, scene in enumerate(told):
        mixed.insert(at * (len(mixed) + len(told) - at) // len(told), scene)
    out: list[SentMessage] = []
    for text in mixed:
        out += [
            line(f"m{len(out) + 1}", text, Role.CHARACTER),
            line(f"m{len(out) + 2}", _GO_ON[language]),
        ]
    while len(out) < 84:
        out.append(line(f"m{len(out) + 1}", _GO_ON[language]))
    return out


def kind_of(text: str) -> str:
    """The kind of a scene, empty for one of none."""
    found = [kind for told in LIKE.values() for kind, texts in told.items() if text in texts]
    return found[0] if found else ""


def naming(name: Callable[[str, str], str]) -> Callable[[Prompt], str]:
    """A model that calls the kind of most scenes as `name` says, given the language and that kind."""

    def answer(prompt: Prompt) -> str:
        if prompt.name != "kinds":
            return obliging(prompt)
        scenes = [(number, text) for number, _, text in read_of(prompt)]
        kinds = [kind_of(text) for _, text in scenes]
        most = max(set(kinds), key=lambda kind: (kind != "", kinds.count(kind)))
        language = "zh" if "场景" in prompt.user else "en"
        shown = [{"line": n, "words": text[:24]} for n, text in scenes if kind_of(text) == most]
        if not most or len(shown) < 3:
            return '{"kind": "", "scenes": []}'
        return json.dumps({"kind": name(language, most), "scenes": shown, "importance": 0.6})

    return answer


honest = naming(lambda language, kind: NAMED[language][kind])


class KindStage(ModelStage):
    """A stage that reads scenes with the packaged encoder, and has a model that names them."""

    def __init__(self, *replies: Callable[[Prompt], str], reader: ModelSource = PACKAGED) -> None:
        self._reader = reader
        super().__init__(*(replies or (honest,)))

    def _new_engine(self) -> Engine:
        return wire_engine(
            Ports(
                store=self.store,
                clock=self.clock,
                model=FakeEmbedder().source(),
                fallback=self._reader,
                params=self._params,
                advance=self.clock.advance,
                spool=self.spool,
                llm=self._llm,
            )
        )

    async def kinds(self) -> list[Memory]:
        """The kinds of episodes that scenes were found to share."""
        made = {product.id for one in (await self.mind()).derivations for product in one.products}
        texts = {name for named in NAMED.values() for name in named.values()}
        return [
            m
            for m in await self.listed()
            if m.kind is MemoryKind.ABSTRACT_EPISODE
            and m.origin is Origin.MODEL
            and m.id in made
            and m.text in texts
        ]
