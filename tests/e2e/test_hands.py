"""What a player does from SillyTavern itself: message menu, typed commands, macros, files, presets, the model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from .child import PATIENCE, until
from .conftest import World
from .memory_window import DESKTOP, PHONE, press_tab
from .ports import free_port
from .small_talk import small_talk
from .stories import FEVER, KEY, KEY_ZH, Fact, chat

STORE = """<memory chat="main" date="2026-03-01 10:00">
- [{name} - The ferry]
- {first}
- {second}
</memory>
"""


@dataclass(frozen=True, slots=True)
class Scene:
    """A page in a language on a screen, what was told there, and words that the page says."""

    language: str
    locale: str
    name: str
    size: dict[str, int]
    fact: Fact
    note: str  # typed as a command
    asks: str  # for what the note says
    stored: tuple[str, str]  # in the file of another extension
    header: str  # of the user's own
    undone: str
    imported: str
    passed: str


ENGLISH = Scene(
    language="en",
    locale="en",
    name="Mira",
    size=DESKTOP,
    fact=KEY,
    note="Alice owes Mira three silver coins.",
    asks="How many silver coins do I owe Mira?",
    stored=("Ida sank the ferry at Varn.", "Bo is allergic to walnuts."),
    header="Mira knows by heart:",
    undone="Undone.",
    imported="2 memories",
    passed="of 6 questions",
)
CHINESE = Scene(
    language="zh",
    locale="zh-cn",
    name="米拉",
    size=PHONE,
    fact=KEY_ZH,
    note="爱丽丝欠米拉三枚银币。",
    asks="我欠米拉几枚银币来着？",
    stored=("艾达在瓦恩弄沉了渡船。", "小波对核桃过敏。"),
    header="米拉牢记：",
    undone="已撤销",
    imported="导入 2 条",
    passed="6 个问题",
)
BOTH = pytest.mark.parametrize(
    "scene",
    [ENGLISH, pytest.param(CHINESE, marks=pytest.mark.nightly)],
    ids=["en-desk", "zh-phone"],
)


@pytest.fixture
def tidy_world(world: World) -> Iterator[World]:
    """After the test the model is the one of the settings.

    A page that the browser ends without an event does not report that it waits for no reply any more,
    and memory work waits for it for five minutes: pages of other tests may have ended so.
    """
    for chat_head in world.sidecar.ask("GET", "/chats")["chats"]:
        idle = {"chat": chat_head["id"], "state": "idle"}
        world.sidecar.ask("POST", "/activity", idle)
    yield world
    world.sidecar.ask("PUT", "/model", {"use": "settings"})


class Player:
    """Who plays with one character."""

    def __init__(self, world: World, scene: Scene, key: str) -> None:
        self.world, self.scene = world, scene
        self.page, self.tab = world.page, world.page.tab
        lines = chat(scene.name, [scene.fact.exchange, *small_talk(scene.language, 10)])
        avatar = world.data.add_character(key, scene.name, first="..", lines=lines)
        self.page.load(scene.locale)
        self.page.wait_for_dot("ok")
        self.page.open_character(avatar)
        self.page.sync()
        self.tab.set_viewport_size(scene.size)  # type: ignore[arg-type]
        self.soul = str(self.page.soulmem["soul"])

    def memories(self, **wanted: Any) -> list[dict[str, Any]]:
        """What is remembered, by a filter."""
        query = "".join(f"&{key}={value}" for key, value in wanted.items())
        path = f"/memories?soul={self.soul}&limit=1000{query}"
        listed: list[dict[str, Any]] = self.world.sidecar.ask("GET", path)["memories"]
        return listed

    def texts(self, **wanted: Any) -> str:
        """The same as one text."""
        return "\n".join(memory["text"] for memory in self.memories(**wanted))

    def menu(self, index: int, entry: str) -> None:
        """Press an entry in the menu of a message."""
        message = self.tab.locator(f'#chat .mes[mesid="{index}"]')
        message.scroll_into_view_if_needed()
        hint = message.locator(".extraMesButtonsHint")
        if hint.is_visible():
            hint.click()
        message.locator(f".soulmem_message_{entry}").click()

    def type(self, command: str) -> None:
        """Type a command where messages are written, and send it."""
        self.page.press_send(command)

    def toast(self, text: str) -> Any:
        """A toast with this text."""
        toast = self.tab.locator(".toast", has_text=text).last
        toast.wait_for()
        return toast

    def clear_toasts(self) -> None:
        """No toast lies above anything any more."""
        self.tab.mouse.move(0, 0)  # one that the pointer is over stays
        self.tab.evaluate("() => toastr.remove()")
        self.tab.locator(".toast").first.wait_for(state="detached")

    def drawer(self, part: str = "") -> None:
        """Open the drawer, and one of its folded parts."""
        self.page.open_drawer()
        if part:
            self.tab.locator(f"{part} > summary").click()

    def shot(self, name: str) -> None:
        """A picture of the screen."""
        self.page.screenshot(f"hands-{name}-{self.scene.language}")


@BOTH
def test_a_message_is_remembered_pinned_and_forgotten_from_its_menu(
    tidy_world: World, scene: Scene
) -> None:
    player = Player(tidy_world, scene, f"menu_{scene.language}")
    index = player.page.index_of(scene.fact.exchange[1])
    words = scene.fact.words

    message = player.tab.locator(f'#chat .mes[mesid="{index}"]')
    message.scroll_into_view_if_needed()
    message.locator(".extraMesButtonsHint").click()
    message.locator(".soulmem_message_pin").wait_for()
    player.shot("menu")
    message.locator(".soulmem_message_remember").click()
    toast = player.toast(scene.name)
    player.shot("remembered")
    assert words in player.texts(kind="note")
    toast.click()
    player.toast(scene.undone)
    assert words not in player.texts(kind="note")
    player.clear_toasts()

    player.menu(index, "pin")
    player.toast(scene.name)
    (pinned,) = player.memories(kind="note", permanent="true")
    assert words in pinned["text"]
    assert pinned["sources"] == []  # the player's own, whatever becomes of the message
    player.clear_toasts()

    player.menu(index, "forget")
    player.page.say_yes()  # it was pinned
    player.tab.locator(f'#chat .mes.soulmem_message_off[mesid="{index}"]').wait_for()
    player.shot("forgotten")
    hers = f"{scene.name}: {scene.fact.exchange[1]}"
    # The message is marked at once, and the sidecar learns of it by the sync behind that.
    until(lambda: hers not in player.texts(kind="episode"), 20, "it is forgotten")
    until(lambda: player.memories(permanent="true") == [], 20, "so is the note")
    player.clear_toasts()
    player.menu(index, "remember")
    player.toast(scene.name)
    until(lambda: hers in player.texts(kind="episode"), 20, "it is remembered again")


@BOTH
def test_typed_commands_remember_recall_and_say_why(tidy_world: World, scene: Scene) -> None:
    player = Player(tidy_world, scene, f"typed_{scene.language}")
    page = player.page
    length = page.length
    player.type(f"/soulmem-remember tags=debt {scene.note}")
    until(lambda: scene.note in player.texts(kind="note"), 20, "the note")
    player.type(f"/soulmem-search limit=3 {scene.note} | /echo")
    player.toast(scene.note)
    player.shot("search")
    player.clear_toasts()
    assert page.length == length, "a command is no message"

    rows = json.loads(page.slash(f"/soulmem-recall as=json {scene.fact.question}"))
    assert scene.fact.words in "".join(row["text"] for row in rows)
    assert all(row["why"] for row in rows)
    note = page.slash("/soulmem-pin message=1")
    assert [m["id"] for m in player.memories(permanent="true")] == [note]
    assert page.slash("/soulmem-forget 2") == "2"
    player.tab.locator('#chat .mes.soulmem_message_off[mesid="2"]').wait_for()
    assert page.slash("/soulmem-read") == str(page.length)
    status = json.loads(page.slash("/soulmem-status as=json"))
    assert (status["state"], status["messages"]) == ("ok", page.length)
    assert page.slash("/soulmem-forget 999") == ""

    # Help and typed arguments are where SillyTavern shows them
    commands = page.run(
        """() => Object.values(SillyTavern.getContext().SlashCommandParser.commands)
            .filter(command => command.name.startsWith('soulmem-'))
            .map(({name, returns, namedArgumentList: list}) =>
                [name, returns, list.map(each => [each.name, each.typeList, each.enumList.map(String)])])"""
    )
    assert len(commands) == 10
    named = {name: dict((n, (t, e)) for n, t, e in args) for name, _, args in commands}
    assert named["soulmem-recall"]["as"] == (["string"], ["text", "json"])
    assert named["soulmem-remember"]["permanent"][0] == ["bool"]
    player.tab.fill("#send_textarea", "/soulmem-rec")
    player.tab.press("#send_textarea", "Control+Space")
    player.tab.locator(".autoComplete-wrap, .autoComplete").first.wait_for()
    player.shot("autocomplete")
    player.tab.fill("#send_textarea", "")


@BOTH
@pytest.mark.oldest
def test_headers_sections_macros_and_presets_shape_the_prompt(
    tidy_world: World, scene: Scene
) -> None:
    player = Player(tidy_world, scene, f"prompt_{scene.language}")
    tab, page = player.tab, player.page
    page.slash(f"/soulmem-remember {scene.note}")
    player.drawer("#soulmem_prompt_sections")
    tab.locator("#soulmem_section_facts").select_option("own")
    tab.locator("#soulmem_section_facts_text").fill(f"{scene.header} {{{{char}}}}")
    tab.locator("#soulmem_section_facts_text").press("Tab")
    tab.locator("#soulmem_section_episodes").select_option("off")
    tab.locator("#soulmem_sections").scroll_into_view_if_needed()
    player.shot("sections")
    until(
        lambda: (
            player.world.sidecar.ask("GET", f"/souls/{player.soul}")["config"]["sections_off"]
            == ["episodes"]
        ),
        20,
        "the sidecar told",
    )
    page.close_drawer()
    prompt = page.send(scene.asks)
    assert prompt.recalled(f"{scene.header} {{ {{char}}}}\n") == 1, str(prompt)
    blocks = page.last_recall["blocks"]  # type: ignore[index]
    assert [block["section"] for block in blocks] == ["facts"]
    facts = page.run("() => SillyTavern.getContext().substituteParams('{{soulmem::facts}}')")
    assert scene.note in facts
    count, none = page.run(
        "() => ['count', 'episodes'].map(part =>"
        " SillyTavern.getContext().substituteParams(`{{soulmem::${part}}}`))"
    )
    assert (int(count) > 0, none) == (True, "")

    page.open_drawer()
    tab.locator("#soulmem_preset").select_option("cheap")
    tab.locator("#soulmem_preset_apply").click()
    assert tab.locator("#soulmem_budget").input_value() == "300"
    assert tab.locator("#soulmem_section_summary").input_value() == "off"
    tab.locator("#soulmem_quick_replies").click()
    tab.locator("#soulmem_preset").scroll_into_view_if_needed()
    player.shot("preset")
    page.close_drawer()
    # SillyTavern's own set, shown with ours, has no icons
    replies = tab.locator("#qr--bar .qr--button:has(.qr--button-icon:not(.qr--hidden))")
    replies.first.wait_for()
    assert replies.count() == 5
    player.clear_toasts()
    player.shot("quick-replies")
    replies.nth(0).click()  # remember the last message
    until(lambda: len(player.memories(kind="note")) == 2, 20, "the last message as a note")


@BOTH
@pytest.mark.nightly
def test_a_memory_is_saved_and_other_extensions_memories_are_taken_in_and_back(
    tidy_world: World, scene: Scene, tmp_path: Path
) -> None:
    player = Player(tidy_world, scene, f"files_{scene.language}")
    tab = player.tab
    first, second = scene.stored
    store = tmp_path / "theirs.md"
    text = STORE.format(name=scene.name, first=first, second=second)
    store.write_text(text, encoding="utf-8")
    player.drawer("#soulmem_files")
    with tab.expect_file_chooser() as chooser:
        tab.locator("#soulmem_store_choose").click()
    chooser.value.set_files(store)
    tab.locator("#soulmem_files_quote").wait_for()
    player.shot("store-quote")
    assert first not in player.texts()
    tab.locator("dialog:has(#soulmem_files_quote) .popup-button-ok").click()
    tab.locator("#soulmem_files_text", has_text=scene.imported).wait_for()
    player.shot("store-done")
    assert first in player.texts(kind="note")
    rows = json.loads(player.page.slash(f"/soulmem-recall as=json {second}"))
    assert any(second in row["text"] for row in rows)

    with tab.expect_download() as download:
        tab.locator("#soulmem_soul_export").click()
    saved = tmp_path / "soul.jsonl"
    download.value.save_as(saved)
    assert second in saved.read_text(encoding="utf-8")
    assert scene.name in download.value.suggested_filename

    note = player.world.sidecar.ask(
        "POST", "/memories", {"soul": player.soul, "kind": "note", "text": scene.note}
    )
    with tab.expect_file_chooser() as chooser:
        tab.locator("#soulmem_soul_import").click()
    chooser.value.set_files(saved)
    tab.locator("#soulmem_files_text:not(:empty)").wait_for()
    until(
        lambda: tab.locator("#soulmem_files_cancel").is_hidden(),
        30,
        "the file looked into",
    )
    assert note["id"] in [memory["id"] for memory in player.memories(kind="note")]

    with tab.expect_file_chooser() as chooser:
        tab.locator("#soulmem_store_choose").click()
    third = tmp_path / "more.md"
    third.write_text(f"<memory>\n- {scene.header} 7\n</memory>", encoding="utf-8")
    chooser.value.set_files(third)
    tab.locator("dialog:has(#soulmem_files_quote) .popup-button-ok").click()
    tab.locator("#soulmem_files_undo").click()
    until(lambda: scene.header not in player.texts(kind="note"), 20, "taken back")
    assert second in player.texts(kind="note")


@BOTH
@pytest.mark.nightly
def test_the_model_for_memory_work_is_chosen_and_tested_in_the_page(
    tidy_world: World, scene: Scene
) -> None:
    player = Player(tidy_world, scene, f"model_{scene.language}")
    tab, page = player.tab, player.page
    page.open_drawer()
    tab.locator("#soulmem_browse").click()
    press_tab(tab, "work")
    tab.locator("#soulmem_model_choice > summary").click()
    tab.locator("#soulmem_model_use").select_option("none")
    tab.locator("#soulmem_model_choose").click()
    until(lambda: page.soulmem["health"]["llm"]["state"] == "off", 20, "no model in force")
    tab.locator("#soulmem_test_model").wait_for(state="hidden")
    tab.locator("#soulmem_model_use").select_option("server")
    tab.locator("#soulmem_model_name").wait_for()
    player.shot("model-server")
    tab.locator("#soulmem_model_use").select_option("client")
    tab.locator("#soulmem_model_choose").click()
    tab.locator("#soulmem_test_model").click()
    verdict = tab.locator('#soulmem_test_result [data-sign="yes"]')
    verdict.wait_for(timeout=60_000 * PATIENCE)
    assert scene.passed in verdict.inner_text()
    player.shot("model-tested")


@pytest.mark.nightly
def test_troubles_are_told_in_chinese(tidy_world: World, tmp_path: Path) -> None:
    """A model that is not there, a file that cannot be read, a note of the sidecar and an outage."""
    player = Player(tidy_world, CHINESE, "troubles")
    tab, page, sidecar = player.tab, player.page, player.world.sidecar
    nowhere = f"http://127.0.0.1:{free_port()}/v1"
    page.open_drawer()
    tab.locator("#soulmem_browse").click()
    press_tab(tab, "work")
    tab.locator("#soulmem_model_choice > summary").click()
    tab.locator("#soulmem_model_use").select_option("server")
    tab.locator("#soulmem_model_url").fill(nowhere)
    tab.locator("#soulmem_model_name").fill("openai/absent")
    tab.locator("#soulmem_model_choose").click()
    tab.locator("#soulmem_test_model").click()
    verdict = tab.locator('#soulmem_test_result [data-sign="no"]')
    verdict.wait_for(timeout=60_000 * PATIENCE)
    assert nowhere in verdict.inner_text()
    player.shot("model-absent")
    in_chinese(tab.locator("#soulmem_browser"))
    tab.keyboard.press("Escape")

    (note,) = sidecar.ask("GET", "/health")["notes"]
    assert nowhere in note
    shown = health_with_status(tab, "degraded")
    page.run("() => document.querySelector('#soulmem_look').click()")
    page.wait_for_dot("degraded")
    step = tab.locator("#soulmem_step", has_text=nowhere)
    step.wait_for()
    in_chinese(tab.locator("#soulmem_drawer"))
    player.shot("note")
    shown()

    if not tab.locator("#soulmem_store_choose").is_visible():
        tab.locator("#soulmem_files > summary").click()
    broken = tmp_path / "broken.md"
    broken.write_text("No memory of any kind.", encoding="utf-8")
    with tab.expect_file_chooser() as chooser:
        tab.locator("#soulmem_store_choose").click()
    chooser.value.set_files(broken)
    tab.locator("#soulmem_files_text", has_text="MemoryBooks").wait_for()
    in_chinese(tab.locator("#soulmem_drawer"))
    player.shot("file-unread")

    sidecar.stop()
    try:
        page.run("() => document.querySelector('#soulmem_look').click()")
        page.wait_for_dot("down")
        in_chinese(tab.locator("#soulmem_drawer"))
        player.shot("outage")
    finally:
        sidecar.start()
        sidecar.wait()
    page.wait_for_dot("ok", seconds=60)


def in_chinese(shown: Any) -> None:
    """No three English words follow each other in what is shown."""
    text = shown.inner_text()
    assert re.search(r"[\u4e00-\u9fff]", text)
    assert re.findall(r"\b[A-Za-z]*[a-z](?:,? [a-z]{2,}){2,}", text) == []


def health_with_status(tab: Any, status: str) -> Callable[[], None]:
    """From now on the page sees this status in the sidecar's own report, until the returned call."""

    def answer(route: Any) -> None:
        response = route.fetch()
        route.fulfill(response=response, json=response.json() | {"status": status})

    tab.route("**/health", answer)
    return lambda: tab.unroute("**/health")


def test_the_extension_manager_the_data_bank_and_the_debug_menu_know_soulmem(
    tidy_world: World,
) -> None:
    """Hooks are exported under the names of the manifest; the source gives one file of what is remembered."""
    player = Player(tidy_world, ENGLISH, "manager")
    page, tab = player.page, player.tab
    page.slash(f"/soulmem-remember {FEVER.words}")
    hooks = page.run(
        """async () => {
            const manifest = SillyTavern.getContext().getExtensionManifest('third-party/SoulMem');
            const module = await import('/scripts/extensions/third-party/SoulMem/' + manifest.js);
            return Object.values(manifest.hooks).map(name => typeof module[name]);
        }"""
    )
    assert hooks == ["function"] * 7
    names = page.run(
        """async () => {
            const { ScraperManager } = await import('/scripts/scrapers.js');
            const files = await ScraperManager.runDataBankScraper('soulmem');
            return Promise.all(files.map(async file => [file.name, await file.text()]));
        }"""
    )
    ((name, text),) = names
    assert name == "SoulMem - Mira.md"
    assert FEVER.words in text
    with tab.expect_download() as download:
        page.run("() => document.querySelector('#debug_menu').click()")
        tab.locator('[data-debug-function="soulmem_report"]').click()
    report = Path(download.value.path()).read_text(encoding="utf-8")
    assert KEY.words not in report
    assert json.loads(report)["state"]["status"] == "ok"
    assert page.uncaught == []
