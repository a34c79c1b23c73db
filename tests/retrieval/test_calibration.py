"""One scale of fit, in both languages and for few situations as for many."""

from __future__ import annotations

import numpy as np
import pytest

from soulmem.language.tokens import Tokeniser
from soulmem.ports.embedder import Embedder
from soulmem.retrieval.action_selection import situation_attention
from soulmem.retrieval.calibration import TEXTS, Calibration, word_fit
from soulmem.retrieval.calibration_texts import EXAMPLES
from tests.packaged import the_encoder

pytestmark = pytest.mark.timeout(60)  # whichever test comes first loads the model

# situation | a line that shares its words | a line that does not
SCENES = {
    "en": """
the sea is rough and the ship sways | The sea is rough, the ship sways. | These waves are tossing us about.
smelling fresh bread | I smell fresh bread. | The bakery must have opened, what a scent!
a stranger stares at her | That stranger keeps staring. | The man in the corner never takes his eyes off you.
a dog barks at her | The dog barks at you! | A hound on a chain growls at us.
someone tells a bad joke | He told such a bad joke. | Why did the chicken cross the road?
a mouse runs across the floor | A mouse just ran over the floor! | Something small and furry scurried by.
finding money on the street | I found money on the street. | Someone lost a wallet here, full of cash.
getting drunk | You are getting drunk. | How many pints have you had?
playing chess | Let's play chess. | Your queen is pinned; mate in two.
the moon is full | The moon is full tonight. | What a round silver disc up there.
""",
    "zh": """
海上风浪很大 | 今天海上风浪真大。 | 船晃得厉害，我快站不住了。
闻到新鲜面包的香味 | 我闻到面包的香味，好新鲜。 | 烤箱里的吐司出炉了，真馋人。
陌生人盯着她看 | 那个陌生人一直盯着你看。 | 角落里那个男的眼睛都没离开过你。
狗对着她叫 | 那只狗对着你叫呢！ | 看门的犬冲我们汪汪的。
有人讲了冷笑话 | 他又讲了个冷笑话。 | 小明为什么不怕冷？因为他站在墙角。
老鼠跑过地板 | 有只老鼠跑过地板！ | 一个毛茸茸的小东西钻到柜子下面去了。
在街上捡到钱 | 我在街上捡到钱了。 | 地上有个钱包，里面全是钞票。
喝醉了 | 你喝醉了。 | 你都灌下七杯白酒了，路都走不直。
下棋 | 我们来下棋吧。 | 你的皇后没了，两步之内将死。
月圆之夜 | 今晚是月圆之夜。 | 天上那个银盘又圆又亮。
""",
}
TALK = {
    "en": [
        "We should leave soon.",
        "Where did you put the keys?",
        "Did you finish the report?",
        "Not today.",
    ],
    "zh": ["我们该走了。", "你把钥匙放哪儿了？", "报告写完了吗？", "今天不行。"],
}


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    """The model that moments are read with, loaded once."""
    return the_encoder()


@pytest.fixture(scope="module")
def calibration(embedder: Embedder) -> Calibration:
    """Of that model."""
    return Calibration.of(embedder.embed(TEXTS))


def scenes(language: str) -> tuple[list[str], list[str], list[str]]:
    """Situations, lines near them, and lines that mean the same in other words."""
    rows = [
        [cell.strip() for cell in line.split("|")] for line in SCENES[language].strip().splitlines()
    ]
    situations, near, far = zip(*rows, strict=True)
    return list(situations), list(near), list(far)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_shares_words_is_present_and_small_talk_is_not(
    embedder: Embedder, calibration: Calibration, language: str
) -> None:
    """Among ten situations only the one meant; nothing at all for talk about other things."""
    situations, near, _ = scenes(language)
    stated = embedder.embed(situations)
    assert len(near) == len(situations) > 1
    for i, line in enumerate(near):
        shares = situation_attention(calibration.fit(embedder.embed([line]), stated))
        assert np.flatnonzero(shares >= 0.4).tolist() == [i], line
    for line in TALK[language]:
        assert situation_attention(calibration.fit(embedder.embed([line]), stated)).max() < 0.4, (
            line
        )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_one_situation_is_judged_as_among_others(
    embedder: Embedder, calibration: Calibration, language: str
) -> None:
    """The measure needs no crowd."""
    situations, near, _ = scenes(language)
    stated = embedder.embed(situations)
    assert len(near) == len(situations) > 1
    for i, line in enumerate(near):
        lines = embedder.embed([line])
        assert situation_attention(calibration.fit(lines, stated[[i]]))[0] > 0.4
        assert situation_attention(calibration.fit(lines, stated[[i - 1]]))[0] < 0.4


def test_some_paraphrases_are_present_and_hardly_anything_else(
    embedder: Embedder, calibration: Calibration
) -> None:
    """No word in common: one in five at least of both languages, and one in ten wrongly at most."""
    right = wrong = total = 0
    for language in SCENES:
        situations, _, far = scenes(language)
        stated = embedder.embed(situations)
        for i, line in enumerate(far):
            present = np.flatnonzero(
                situation_attention(calibration.fit(embedder.embed([line]), stated)) >= 0.4
            )
            right += i in present
            wrong += np.count_nonzero(present != i)
            total += 1
    assert right >= 0.2 * total
    assert wrong <= 0.1 * total


def test_the_other_language_is_measured_by_its_own(
    embedder: Embedder, calibration: Calibration
) -> None:
    """Talk in one language about nothing of the sort does not fit situations in the other."""
    situations = scenes("zh")[0]
    fits = calibration.fit(embedder.embed(TALK["en"]), embedder.embed(situations))
    assert situation_attention(fits).max() < 0.4


def test_what_has_no_vector_has_no_fit(embedder: Embedder, calibration: Calibration) -> None:
    """NaN stays NaN, and its neighbours do not mind."""
    situations = embedder.embed(scenes("en")[0][:2])
    situations[0] = np.nan
    fits = calibration.fit(embedder.embed(["I smell fresh bread."]), situations)
    assert np.isnan(fits[0, 0])
    assert fits[0, 1] > 4


@pytest.mark.parametrize("language", ["en", "zh"])
def test_scenes_tell_what_a_situation_is_like(
    embedder: Embedder, calibration: Calibration, language: str
) -> None:
    """A line in the words of its scenes fits it better, others do not; a scene without a vector is none."""
    situations, near, far = scenes(language)
    stated = embedder.embed(situations)
    seen = [embedder.embed([line]) for line in near]
    plain = calibration.fit(embedder.embed(near), stated)
    taught = calibration.fit(embedder.embed(near), stated, seen)
    own = np.eye(len(near), dtype=np.bool_)
    assert (taught[own] > plain[own]).all()
    assert taught[own].mean() - taught[~own].mean() > 1.1 * (plain[own].mean() - plain[~own].mean())
    unread = np.full((1, stated.shape[1]), np.nan, np.float32)
    some = [np.concatenate([unread, scene]) for scene in seen]
    assert np.allclose(
        calibration.fit(embedder.embed(far), stated, some),
        calibration.fit(embedder.embed(far), stated, seen),
    )
    assert np.allclose(
        calibration.fit(embedder.embed(far), stated, [unread] * len(stated)),
        calibration.fit(embedder.embed(far), stated),
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_two_wordings_of_a_situation_are_more_alike_than_two_situations(
    embedder: Embedder, calibration: Calibration, language: str
) -> None:
    """Whichever comes first; and none is more like it than itself."""
    situations, _, _ = scenes(language)
    others = {"en": "a ship in rough weather", "zh": "船在大浪里摇晃"}[language]
    alike = calibration.between(embedder.embed([*situations, others]))
    assert np.allclose(alike, alike.T, atol=1e-4)
    assert (alike.argmax(axis=1) == np.arange(len(alike))).all()
    assert alike[-1, :-1].argmax() == 0
    assert alike[-1, 0] > 1.5 * np.sort(alike[-1, 1:-1])[-1]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_vectors_words_decide(language: str) -> None:
    """As sharply for what shares words; what shares none is not seen."""
    tokens = Tokeniser().tokens
    situations, near, far = scenes(language)
    stated = [tokens(text) for text in situations]

    def present(line: str) -> list[int]:
        fits = word_fit([tokens(line)], stated, lambda _: 1, len(stated))
        return [int(index) for index in np.flatnonzero(situation_attention(fits) >= 0.4)]

    assert [present(line) for line in near] == [[i] for i in range(len(near))]
    assert not any(present(line) for line in (*far, *TALK[language]))


def test_common_words_weigh_less_than_rare_ones() -> None:
    """How common the soul's own memories tell."""
    situations = [["duke", "arrives"]]
    counts = {"duke": 1, "arrives": 400}
    rare, common = word_fit([["duke"], ["arrives"]], situations, counts.__getitem__, 500)[:, 0]
    assert rare > 4 > 0 > common


def test_examples_are_neutral_and_balanced() -> None:
    """As many of each kind in each language, none twice, and none of them tested here."""
    assert len(set(TEXTS)) == len(TEXTS)
    assert len({(len(e.situations), len(e.lines)) for e in EXAMPLES}) == 1
    tested = {text for language in SCENES for column in scenes(language) for text in column}
    assert not tested & set(TEXTS)
