"""A first evening with two characters, played line by line, and the next chat with each: the quiet lines under
messages, the page of the character, and the first memory. English on a desk, Chinese on a phone.

With `SOULMEM_E2E_SHOTS` each evening's lines are written to `chips-LANGUAGE.txt`, to be read.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from .axe import serious_findings
from .child import PATIENCE, until
from .conftest import World
from .memory_window import DESKTOP, PHONE, TOO_WIDE, MemoryWindow
from .sidecar import REPOSITORY
from .small_talk import exchanges_of

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.slow("a page of SillyTavern"),
]

APART = 5  # messages: at most one of so many has a line under it
# Of these lines, so that a fall is seen; with the small model a reader found 18 of 21 worth it.
WORTH = 0.65
CHIPS = """() => [...document.querySelectorAll('#chat .mes:has(.soulmem_will)')].map(
    row => [Number(row.getAttribute('mesid')), row.querySelector('.soulmem_will small').textContent.trim()])"""

COUNT_LOOKS = """() => {
    globalThis.judgedLooks ??= 0;
    const real = globalThis.fetch;
    globalThis.fetch = async (...asked) => {
        const answer = await real(...asked);
        if (String(asked[0]).includes('/known?limit=10')) {
            const { unread } = await answer.clone().json();
            if (unread === 0) judgedLooks++;
        }
        return answer;
    };
}"""


@dataclass(frozen=True, slots=True)
class Evening:
    """A chat as it is played.

    worth   parts of its lines that a friend would keep, as somebody read them
    asks    what the next chat begins with
    knows   words of what is told for that
    """

    name: str
    file: Path
    worth: tuple[str, ...]
    asks: str
    knows: str


@dataclass(frozen=True, slots=True)
class Player:
    """Somebody who plays two evenings in a language on a screen."""

    language: str
    size: dict[str, int]
    earlier: str  # how a line begins that says what came from another chat
    evenings: tuple[Evening, Evening]


_CHATS = REPOSITORY / "tests" / "quality"
_DEMO = REPOSITORY / "soulmem" / "cli" / "demo_chats"
ENGLISH = Player(
    "en",
    DESKTOP,
    "From an earlier chat",
    (
        Evening(
            "Ines",
            _CHATS / "orchard_en.json",
            (
                *("the night my father drowned", "the bees know where it is"),
                *("He only bites people in yellow gloves", "painted it himself"),
                *("burn that", "take the loft", "my brother Lorne", "three bites"),
                *("lent us sixty crowns", "she takes the lower orchard"),
                *("apprenticed in Harrow", "lost the thumb", "sister Maud"),
                *("She left on the mail barge", "not a word", "Not a word"),
                *("chases its swifts", "selling the colonel", "my grandfather"),
                *("get it back", "plays dominoes", "Saint Orrin's burned down"),
                *("married my cousin", "lice", "I miss her", "carry the letter"),
                *("green ink", "wind it myself", "twenty when it stopped"),
                "a minute a day",
            ),
            "Ines, what happened the night your father drowned?",
            "stopped the night my father drowned",
        ),
        Evening(
            "Isaura",
            _DEMO / "lantern_en.json",
            (
                *("Corin Hale", "Isaura Vane", "My mule died", "keeper at Low Cairn"),
                *("my brother went over the pass", "compass with a swallow"),
                *("call me Sparrow", "The sea", "never once gone down it"),
                *("When the river breaks up", "You have my word", "hold you to it"),
                *("owes me a fortnight", "garrison at Esk", "a letter from Esk"),
                *("waited for that paper", "open anything of yours again"),
                *("bring a hook", "leaving me gifts", "A man came through"),
            ),
            "Where did your brother Jory leave his compass?",
            "brass compass",
        ),
    ),
)
CHINESE = Player(
    "zh-cn",
    PHONE,
    "来自之前的聊天",
    (
        Evening(
            "沈砚秋",
            _CHATS / "book_shop_zh.json",
            (
                *(
                    "三年前过世",
                    "我叫沈砚秋",
                    "我姓陆",
                    "当抄写员",
                    "种橘子去了",
                    "过敏",
                ),
                *("钻进师傅的樟木箱", "我小时候也怕雷", "青禾", "那道疤", "嫁去了雁荡"),
                *(
                    "两年没来往",
                    "八百块",
                    "病倒",
                    "我发过誓",
                    "都从我手里过",
                    "拜把子兄弟",
                ),
                *("留着炒米", "喝龙井睡不着", "旧灯塔的图样", "跟着白鹭走", "祝三姑"),
                *("他只喝酒", "礼拜五", "船底漏", "吃花生就喘", "花生我记住了"),
                *("欠她一句", "给青禾和青川", "留了东西给你们", "欠我一个人情", "加倍"),
                *("二十六号开船", "先学磨墨", "我外公留下的", "到航运局门口等您"),
            ),
            "你外公对什么过敏来着？",
            "过敏",
        ),
        Evening(
            "沈青禾",
            _DEMO / "inn_zh.json",
            (
                *("长风镖局", "我叫沈青禾", "开张四年", "我娘留的", "出了关就没回来"),
                *("七月头上就回来", "镖保住了", "做桂花糖", "钱塘有大潮", "带你去看潮"),
                *("今年去不成就明年", "再下去一回", "就剩这么一样东西", "还镖局的债"),
                *(
                    "走的那天才说",
                    "信我退回去了",
                    "我要是再瞒你",
                    "闺女要出嫁",
                    "押一车药材",
                ),
            ),
            "你娘留给你的顶针上刻着什么字？",
            "顶针",
        ),
    ),
)


def chips(world: World) -> list[tuple[int, str]]:
    """The lines under messages of the open chat, with the places of these."""
    shown: list[tuple[int, str]] = world.page.tab.evaluate(CHIPS)
    return shown


class Talk:
    """The open chat; a line that comes under a message comes before the next is said."""

    def __init__(self, world: World) -> None:
        self.world, self.page = world, world.page
        self.page.tab.evaluate(COUNT_LOOKS)
        self._lines = 0
        self._last = -APART  # length of the chat when the latest came

    def say(self, mine: str, hers: str) -> None:
        """An exchange, until what it told is judged and looked at."""
        self.page.llm.will_say(hers)
        before = self._looks()
        self.page.send(mine)

        soul = self.page.soulmem["soul"]

        def is_judged() -> bool:
            path = f"/souls/{soul}/known?limit=1"
            return bool(self.world.sidecar.ask("GET", path)["unread"] == 0)

        def is_looked_at() -> bool:
            return self._looks() > before or len(chips(self.world)) > self._lines

        if self.page.length < APART:  # the kinds of lines may still be fitted
            until(is_judged, 300, "what was said is judged")
        elif self.page.length - self._last >= APART:
            until(is_looked_at, 60, "a look at what is known")
        if len(chips(self.world)) > self._lines:
            self._lines, self._last = self._lines + 1, self.page.length

    def _looks(self) -> int:
        """How many looks found all lines judged."""
        return int(self.page.tab.evaluate("() => judgedLooks"))


def report(language: str, name: str, length: int, lines: list[tuple[int, str]]) -> None:
    """Add the lines of an evening to the file for who reads them."""
    folder = os.environ.get("SOULMEM_E2E_SHOTS")
    if folder:
        with (Path(folder) / f"chips-{language}.txt").open("a", encoding="utf-8") as out:
            out.write(f"{name}: {len(lines)} lines under {length} messages\n")
            out.writelines(f"  {place:3} {text}\n" for place, text in lines)


@pytest.mark.timeout(900 * PATIENCE, func_only=True)
@pytest.mark.parametrize("player", [ENGLISH, CHINESE], ids=["en-desk", "zh-phone"])
def test_a_first_evening_and_the_next_chat(
    window: MemoryWindow, script: Path, player: Player
) -> None:
    world, page, tab = window.world, window.page, window.tab
    folder = os.environ.get("SOULMEM_E2E_SHOTS")
    if folder:
        (Path(folder) / f"chips-{player.language}.txt").unlink(missing_ok=True)
    worthy = told = 0
    for number, evening in enumerate(player.evenings):
        key = f"evening-{player.language}-{number}"
        avatar = world.data.add_character(key, evening.name, first="…")
        page.load(player.language)
        page.wait_for_dot("ok")
        tab.set_viewport_size(player.size)  # type: ignore[arg-type]
        page.open_character(avatar)
        talk = Talk(world)
        for mine, hers in exchanges_of(evening.file):
            talk.say(mine, hers)
        lines = chips(world)
        report(player.language, evening.name, page.length, lines)
        places = [place for place, _ in lines]
        assert 3 <= len(lines) <= page.length / APART, lines
        assert len(set(places)) == len(places)
        told += len(lines)
        worthy += sum(any(part in text for part in evening.worth) for _, text in lines)
        page.screenshot(f"evening-chat-{key}")

        # Her page is filled, promises stand by how they ended.
        page.open_drawer()
        tab.locator("#soulmem_browse").click()
        shown = tab.locator('#soulmem_browser [data-page="her"]')
        shown.locator("#soulmem_her_knows .soulmem_thing").first.wait_for()
        window.settle()
        page.screenshot(f"evening-her-{key}")
        assert shown.locator(".soulmem_her_head .soulmem_portrait").count() >= 1
        assert tab.evaluate(TOO_WIDE) == []
        assert serious_findings(tab, script, "#soulmem_browser") == []
        promises = shown.locator("#soulmem_her_promises")
        open_ones = promises.locator('[data-promises="open"] .soulmem_thing')
        count = open_ones.count()
        assert count >= 1
        open_ones.first.locator(".soulmem_promise_kept").click()
        kept = promises.locator('[data-promises="kept"]')
        kept.locator(".soulmem_thing").wait_for(state="attached")
        assert open_ones.count() == count - 1
        tab.keyboard.press("Escape")
        page.close_drawer()

        # The next chat begins with something of this one, and says so.
        page.slash("/newchat")
        page.llm.will_say("…")
        prompt = page.send(evening.asks)
        assert prompt.recalled(evening.knows) >= 1, str(prompt)
        chip = tab.locator("#chat .last_mes .soulmem_will", has_text=player.earlier)
        chip.wait_for()
        page.screenshot(f"evening-next-{key}")
    assert worthy >= WORTH * told, f"{worthy} of {told} lines are worth it"
