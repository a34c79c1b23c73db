"""Memories of MemoryBooks and Message Summarize, as these extensions store them, are imported by clicks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from .child import until
from .conftest import World
from .memory_window import DESKTOP, PHONE
from .small_talk import small_talk
from .stories import KEY, KEY_ZH, Fact, chat

pytestmark = pytest.mark.nightly

# What Message Summarize writes: its own field in `extra`, on the message and on the swipe that is shown.
SUMMARIZE = """async notes => {
    const context = SillyTavern.getContext();
    for (const [index, note] of notes) {
        const message = context.chat[index];
        message.extra ??= {};
        message.extra.qvink_memory = {
            memory: note.memory, hash: 7261, error: null, edited: false, prefill: '', reasoning: '',
            lagging: false, include: note.exclude ? null : 'short', ...note,
        };
        const swipe = message.swipe_info?.[message.swipe_id];
        if (swipe) swipe.extra = structuredClone(message.extra);
    }
    await context.saveChat();
}"""
# What MemoryBooks writes: entries of the world that is bound to the chat.
BIND = """async ([name, scenes]) => {
    const context = SillyTavern.getContext();
    const entries = Object.fromEntries(scenes.map((scene, uid) => [uid, {
        uid, keysecondary: [], constant: false, vectorized: true, selective: true, selectiveLogic: 0,
        addMemo: true, order: uid, position: 0, disable: false, displayIndex: uid, probability: 100,
        useProbability: true, depth: 4, group: '', ...scene,
    }]));
    await context.saveWorldInfo(name, { entries }, true);
    context.chatMetadata.world_info = name;
    await context.saveMetadata();
}"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A page in a language on a screen, what other extensions wrote there, and words that the page says."""

    language: str
    locale: str
    name: str
    size: dict[str, int]
    fact: Fact
    summary: str  # of a message
    pinned: str  # the same, kept for good
    excluded: str  # the same, excluded
    scene: str  # of a range of messages
    distant: str  # of a chat that was never imported
    replaced: str  # by a longer one, and switched off
    asks: str  # for the summary
    offers: tuple[str, ...]  # what the question says
    done: str
    redone: str  # what is said of the import behind the one that was taken back
    again: tuple[str, ...]  # what is said of a further import
    undone: str


ENGLISH = Scene(
    language="en",
    locale="en",
    name="Mira",
    size=DESKTOP,
    fact=KEY,
    summary="Alice pledged her silver falcon brooch to the ferryman.",
    pinned="Mira swore never to enter the salt mine again.",
    excluded="They ate soup.",
    scene="Alice and Mira mapped the flooded cellar of Orm.",
    distant="Long ago Mira lost her sister at the glass lake.",
    replaced="A first draft of the cellar.",
    asks="To whom did I pledge the silver falcon brooch?",
    offers=(
        "start.jsonl: 2 new memories",
        "Cellar.json: 2 new memories",
        "1 belongs to chats that are not imported",
        "Left out: 2 that are switched off",
    ),
    done="Imported for Mira: 4 memories.",
    redone="Imported for Mira: 3 memories.",
    again=(
        "There is nothing new for Mira",
        "Left out: 2 that are switched off",
    ),
    undone="Taken back: 3 memories.",
)
CHINESE = Scene(
    language="zh",
    locale="zh-cn",
    name="米拉",
    size=PHONE,
    fact=KEY_ZH,
    summary="爱丽丝把银隼胸针押给了摆渡人。",
    pinned="米拉发誓再也不进盐矿。",
    excluded="她们喝了汤。",
    scene="爱丽丝和米拉画下了奥姆被淹地窖的地图。",
    distant="很久以前，米拉在玻璃湖失去了妹妹。",
    replaced="地窖的初稿。",
    asks="我把银隼胸针押给谁了？",
    offers=(
        "start.jsonl：2 条新记忆",
        "Cellar.json：2 条新记忆",
        "有 1 条属于尚未导入的聊天",
        "不导入 2 条：在原扩展中已停用或排除",
    ),
    done="已为米拉导入 4 条记忆。",
    redone="已为米拉导入 3 条记忆。",
    again=("没有米拉还不知道的内容", "不导入 2 条：在原扩展中"),
    undone="已撤回 3 条记忆。",
)
BOTH = pytest.mark.parametrize("scene", [ENGLISH, CHINESE], ids=["en-desk", "zh-phone"])


class Player:
    """Who used the other two extensions before."""

    def __init__(self, world: World, scene: Scene) -> None:
        self.world, self.scene = world, scene
        self.page, self.tab = world.page, world.page.tab
        lines = chat(scene.name, [scene.fact.exchange, *small_talk(scene.language, 10)])
        key = f"stores_{scene.language}"
        avatar = world.data.add_character(key, scene.name, first="..", lines=lines)
        self.page.load(scene.locale)
        self.page.wait_for_dot("ok")
        self.page.open_character(avatar)
        self.page.run(
            SUMMARIZE,
            [
                [5, {"memory": scene.summary}],
                [7, {"memory": scene.pinned, "remember": True, "include": "long"}],
                [9, {"memory": scene.excluded, "exclude": True}],
                [11, {"memory": None, "error": "Summarization failed"}],
            ],
        )
        here: dict[str, Any] = {
            "stmemorybooks": True,
            "STMB_chatId": self.page.chat_name,
        }
        scenes: list[dict[str, Any]] = [
            {"STMB_start": 2, "STMB_end": 4, "content": scene.scene, **here},
            {"STMB_start": 0, "STMB_end": 9, "content": scene.distant, **here}
            | {"STMB_chatId": "never imported"},
            {"STMB_start": 2, "STMB_end": 3, "content": scene.replaced, **here} | {"disable": True},
            {"content": "A realm of the player's own.", "key": ["realm"]},
        ]
        titled = [
            {"comment": f"[{n:03}] - {scene.name} {n}", "key": [scene.name], **each}
            for n, each in enumerate(scenes, 1)
        ]
        self.page.run(BIND, ["Cellar", titled])
        self.page.sync()
        self.tab.set_viewport_size(scene.size)  # type: ignore[arg-type]
        self.soul = str(self.page.soulmem["soul"])

    def memories(self) -> list[dict[str, Any]]:
        """The notes that are remembered."""
        path = f"/memories?soul={self.soul}&kind=note&limit=1000"
        listed: list[dict[str, Any]] = self.world.sidecar.ask("GET", path)["memories"]
        return listed

    def texts(self) -> str:
        """The same as one text."""
        return "\n".join(memory["text"] for memory in self.memories())

    def of(self, words: str) -> dict[str, Any]:
        """The one note with these words."""
        (memory,) = [each for each in self.memories() if words in each["text"]]
        return memory

    def look(self) -> None:
        """Press the button that looks for other extensions' memories."""
        button = self.tab.locator("#soulmem_stores")
        if not button.is_visible():
            self.page.open_drawer()
            if not button.is_visible():
                self.tab.locator("#soulmem_files > summary").click()
        button.click()

    def said(self) -> str:
        """What stands below the buttons when the work has ended."""
        self.tab.locator("#soulmem_files_cancel").wait_for(state="hidden")
        return self.tab.locator("#soulmem_files_text").inner_text()

    def shot(self, name: str) -> None:
        """A picture of the screen."""
        self.page.screenshot(f"stores-{name}-{self.scene.language}")


@BOTH
def test_both_stores_come_by_clicks_go_with_their_messages_and_are_taken_back(
    world: World, scene: Scene
) -> None:
    player = Player(world, scene)
    page, tab = player.page, player.tab
    slots = [message["slot"] for message in world.sidecar.stored(page.soulmem["chat"])]

    player.look()
    quote = tab.locator("#soulmem_files_quote")
    quote.wait_for()
    player.shot("quote")
    quoted = quote.inner_text()
    assert [words for words in scene.offers if words not in quoted] == [], quoted
    assert player.memories() == []
    tab.locator("dialog:has(#soulmem_files_quote) .popup-button-ok").click()
    tab.locator("#soulmem_files_text", has_text=scene.done).wait_for()
    player.shot("done")
    texts = player.texts()
    for words in (scene.summary, scene.pinned, scene.scene, scene.distant):
        assert texts.count(words) == 1
    for words in (scene.excluded, scene.replaced, "realm"):
        assert words not in texts

    def places(words: str) -> list[str]:
        return [source["slot"] for source in player.of(words)["sources"]]

    assert places(scene.summary) == [slots[5]]
    assert places(scene.scene) == slots[2:5]
    assert places(scene.distant) == []
    question = {"soul": player.soul, "query": scene.asks, "time_budget_ms": 10_000}
    recalled = world.sidecar.ask("POST", "/recall", question)["memories"]
    assert scene.summary in "\n".join(memory["text"] for memory in recalled)

    # The message goes, and what was written about it
    page.close_drawer()
    page.press_send("/cut 5")
    page.sync()
    until(lambda: scene.summary not in player.texts(), 20, "the summary gone")
    assert scene.pinned in player.texts()
    recalled = world.sidecar.ask("POST", "/recall", question)["memories"]
    assert scene.summary not in "\n".join(memory["text"] for memory in recalled)

    page.open_drawer()
    tab.locator("#soulmem_files_undo").click()
    tab.locator("#soulmem_files_text", has_text=scene.undone).wait_for()
    player.shot("undone")
    assert player.memories() == []

    # Taken back by mistake: the next import brings the same, and one more nothing
    player.look()
    tab.locator("dialog:has(#soulmem_files_quote) .popup-button-ok").click()
    tab.locator("#soulmem_files_text", has_text=scene.redone).wait_for()
    texts = player.texts()
    for words in (scene.pinned, scene.scene, scene.distant):
        assert texts.count(words) == 1
    assert scene.summary not in texts
    player.look()
    nothing = tab.locator("#soulmem_files_text", has_text=scene.again[0])
    nothing.wait_for()
    said = player.said()
    assert [words for words in scene.again if words not in said] == [], said
    player.shot("again")
    assert quote.count() == 0
