"""Which chats do the characters have behind them?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """One message; the user's when `speaker` is None."""

    speaker: str | None
    text: str


Exchange = tuple[str, str]  # what the user says, what the character answers

_PLACES = {
    "en": (
        "a mill with a broken wheel",
        "the ferry landing",
        "a village of weavers",
        "the old toll gate",
        "a birch wood",
        "the salt road",
        "an inn called the Blind Owl",
        "a field of flax",
    ),
    "zh": (
        "水车坏了的磨坊",
        "渡口",
        "织布人的村子",
        "旧关卡",
        "白桦林",
        "盐道",
        "叫瞎眼猫头鹰的客栈",
        "亚麻田",
    ),
}
_DOINGS = {
    "en": (
        (
            "bought bread and hard cheese, and paid too much for both",
            "counts the coins twice and shakes her head over the price of cheese in these parts",
        ),
        (
            "waited out the rain under a cart with two carters who talked of nothing but mules",
            "wrings out her cloak and says that mules, at least, know when to stand still",
        ),
        (
            "mended the strap of my pack with waxed thread and pricked my thumb doing it",
            "holds the lamp closer and teases that a tailor would have wept at such stitches",
        ),
        (
            "walked until our feet hurt and then a good hour more because of the dogs",
            "sits down on a milestone, pulls off one boot and declares the dogs the winners",
        ),
    ),
    "zh": (
        ("买了面包和硬奶酪，两样都买贵了", "把铜板数了两遍，对这一带奶酪的价钱直摇头"),
        ("在大车底下躲雨，两个车夫从头到尾只聊骡子", "拧着斗篷上的水，说骡子至少知道什么时候该站着不动"),
        ("用蜡线缝好了背包的带子，还扎破了拇指", "把灯举近了些，笑着说裁缝看了这针脚会掉眼泪"),
        ("一直走到脚疼，又因为那几条狗多走了一个钟头", "坐在里程碑上脱下一只靴子，宣布这一局狗赢了"),
    ),
}
_MINE = {
    "en": "Day {day}. This morning we came to {place}. I {mine}, and after that we rested for a while and "
    "looked at the sky, which was as grey as it had been yesterday. The road was muddy, nobody overtook us, "
    "and by noon I had stopped counting the crows. What do you make of a day like this one?",
    "zh": "第{day}天。早上我们到了{place}。我{mine}。后来我们歇了一会儿，看了看天，天和昨天一样灰。"
    "路上全是泥，没有人赶上我们，到了中午我已经懒得数乌鸦了。这样的一天，你怎么看？",
}
_HERS = {
    "en": "*She {hers}.* What should I make of day {day}? Grey above, mud below, and us in between. I have "
    "seen worse days, and with worse company. Let us get out of the wind, eat something warm, and go on a "
    "little before it turns dark. Tomorrow may be just like it, and I would not mind.",
    "zh": "*她{hers}。*第{day}天能怎么看？上面是灰的，下面是泥，我们夹在中间。"
    "更糟的日子我也见过，同路的人也更糟。先找个避风的地方，吃点热的，天黑前再走一段。明天要是还这样，我也不在意。",
}


def small_talk(language: str, count: int, start: int = 0) -> list[Exchange]:
    """`count` different exchanges, about 80 tokens a message, in which nothing worth remembering happens."""
    places, doings = _PLACES[language], _DOINGS[language]
    told = []
    for day in range(start + 1, start + count + 1):
        place = places[day % len(places)]
        mine, hers = doings[(day // len(places) + day) % len(doings)]
        told.append(
            (
                _MINE[language].format(day=day, place=place, mine=mine),
                _HERS[language].format(day=day, hers=hers),
            )
        )
    return told


@dataclass(frozen=True, slots=True)
class Fact:
    """Told once: the exchange that tells it, a question that does not give it away, words only it has."""

    told: Exchange
    question: str
    words: str


KEY = Fact(
    (
        "Before we sleep, Mira: I hid the brass key in the hollow oak behind the chapel. Promise me.",
        "*She nods slowly.* I promise. The brass key, the hollow oak behind the chapel. Not a word.",
    ),
    "Mira, do you still remember where I hid the brass key?",
    "hollow oak",
)
KEY_ZH = Fact(
    (
        "睡前告诉你一件事，米拉：我把铜钥匙藏在教堂后面那棵空心橡树里了。答应我，你要记住。",
        "*她慢慢点了点头。*我答应你。铜钥匙，在教堂后面的空心橡树里。我谁也不会说。",
    ),
    "米拉，你还记得我把铜钥匙藏在哪里了吗？",
    "空心橡树",
)
PARROT = Fact(
    (
        "My grandmother's parrot was called Saltpetre, and he bit every bishop who visited her.",
        "*She laughs.* Saltpetre! A parrot with principles. I should have liked your grandmother.",
    ),
    "What was the name of my grandmother's parrot?",
    "Saltpetre",
)
FEVER = Fact(
    (
        "When I had the fever, the physician Orsolo cured me with powdered willow bark.",
        "*She grimaces.* Orsolo and his willow bark. Bitter, but it saved you.",
    ),
    "Which physician cured my fever?",
    "willow bark",
)


def chat(speaker: str, exchanges: Sequence[Exchange]) -> list[Line]:
    """The messages of a chat between the user and `speaker`."""
    return [line for mine, hers in exchanges for line in (Line(None, mine), Line(speaker, hers))]
