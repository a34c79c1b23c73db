"""The map of the heart of a character with some friends: English on a desk, Chinese on a phone."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from .axe import serious_findings
from .child import until
from .memory_window import DESKTOP, PHONE, TOO_WIDE, MemoryWindow
from .small_talk import small_talk
from .stories import Exchange

pytestmark = pytest.mark.nightly

TOLD = (
    ("I cannot touch walnuts, my throat closes.", "Then no walnut loaf for you, ever."),
    (
        "Gideon Pike brought the mail boat in through the storm.",
        "And Gideon Pike would not take a coin for it!",
    ),
    (
        "I met Odile at the harbour, she owes me two lessons.",
        "Trust Odile to forget them, so I will remind her.",
    ),
    (
        "Then Gideon Pike and Odile danced on the pier all night.",
        "So Odile finally told Gideon Pike the truth.",
    ),
    (
        "Do you remember what Tamsin said about the blue door?",
        "I promised Tamsin that I would paint the blue door in spring.",
    ),
    (
        "My brother Corin was lost at sea when I was nine.",
        "I lit the lamp for Corin every night of that winter.",
    ),
    (
        "Later Bram burned the letter that Corin had left.",
        "I will never forgive Bram for that letter.",
    ),
    (
        "And Wilhelmina taught the children to count the gulls.",
        "So Wilhelmina laughed until the children cried.",
    ),
    (
        "Then Tamsin kissed Bram behind the chapel.",
        "I saw Tamsin and Bram, and I kept their secret.",
    ),
    ("Then Gideon Pike asked for the long ladder.", "I gave Gideon Pike the ladder."),
    ("So Odile sold the grey mare.", "And Odile wept when the mare was gone."),
    ("I said good night to Wilhelmina.", "Sleep well, and tell Wilhelmina I miss her."),
)
TOLD_ZH = (
    ("我不能碰核桃，一碰喉咙就肿。", "那我以后再也不给你做核桃糕了。"),
    ("周怀安冒着暴雨把信船开了回来。", "周怀安一个铜板也不肯收。"),
    ("我在码头碰见佟四娘，她还欠我两堂课。", "佟四娘肯定忘了，我去提醒她。"),
    ("后来周怀安和佟四娘在栈桥上跳了一夜的舞。", "佟四娘终于对周怀安说了实话。"),
    ("你还记得柳拾音说的那扇蓝门吗？", "我答应过柳拾音，春天要把蓝门漆好。"),
    ("我九岁那年，哥哥陆行舟出海没有回来。", "那年冬天我每晚都为陆行舟点灯。"),
    ("后来秦砚之烧了陆行舟留下的信。", "我永远不会原谅秦砚之烧了那封信。"),
    ("柳拾音在祠堂后面亲了秦砚之。", "我看见柳拾音和秦砚之了，我替他们保密。"),
    ("周怀安来借长梯子。", "我把梯子借给周怀安了。"),
    ("佟四娘卖了那匹灰马。", "灰马走的时候佟四娘哭了。"),
)


@dataclass(frozen=True, slots=True)
class Scene:
    """What was told in a language, whose portrait there is, and a question about that one."""

    language: str
    name: str
    size: dict[str, int]
    told: tuple[Exchange, ...]
    friend: str
    question: str


ENGLISH = Scene(
    "en", "Maren", DESKTOP, TOLD, "Gideon Pike", "What did Gideon Pike do in the storm?"
)
CHINESE = Scene("zh", "米拉", PHONE, TOLD_ZH, "周怀安", "周怀安在暴雨里做了什么？")


@pytest.mark.parametrize("scene", [ENGLISH, CHINESE], ids=["en-desk", "zh-phone"])
def test_the_map_of_the_heart(
    window: MemoryWindow, script: Path, tmp_path: Path, scene: Scene
) -> None:
    tab, page = window.tab, window.page
    key = f"heart-{scene.language}"
    window.world.data.add_character(f"{key}-friend", scene.friend, first="Ahoy.")
    # What was told has left the prompt
    talk = [*scene.told, *small_talk(scene.language, 31)]
    window.enter_chat(key, scene.name, scene.language, talk)
    tab.set_viewport_size(scene.size)  # type: ignore[arg-type]
    page.send(scene.question)
    page.open_drawer()
    tab.locator("#soulmem_browse").click()
    shown = window.turn_to("heart")
    picture = shown.locator(".soulmem_heart")
    window.settle()

    # Somebody who has a card has its portrait; what the last reply knew is in gold.
    people = picture.locator(".soulmem_heart_person")
    assert people.count() >= 6
    friend = picture.locator(f'.soulmem_heart_person[aria-label="{scene.friend}"]')
    assert friend.get_attribute("data-gold") == "true"
    assert friend.locator("image").count() == 1
    until(
        lambda: tab.evaluate("() => [...document.images].every(one => one.complete)"),
        10,
        "portraits",
    )
    page.screenshot(f"heart-map-{scene.language}")
    assert tab.evaluate(TOO_WIDE) == []
    assert serious_findings(tab, script, "#soulmem_browser") == []

    # Places and scenes stand round about on request.
    shown.locator("#soulmem_heart_spots").click()
    shown.locator("[data-spot]").first.wait_for()
    page.screenshot(f"heart-spots-{scene.language}")
    assert people.count() > 6
    assert tab.evaluate(TOO_WIDE) == []
    assert serious_findings(tab, script, "#soulmem_browser") == []
    shown.locator("#soulmem_heart_spots").click()
    shown.locator("[data-spot]").first.wait_for(state="detached")

    # By keys to somebody, whose lines are told below.
    picture.locator('[tabindex="0"]').focus()
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("Enter")
    shown.locator(".soulmem_heart_panel .soulmem_item").first.wait_for()
    friend.press("Enter")
    page.screenshot(f"heart-friend-{scene.language}")
    assert serious_findings(tab, script, "#soulmem_browser") == []

    with tab.expect_download() as saved:
        shown.locator("#soulmem_heart_save").click()
    assert saved.value.suggested_filename.endswith(".png")
    folder = Path(os.environ.get("SOULMEM_E2E_SHOTS") or tmp_path)
    file = folder / f"heart-saved-{scene.language}.png"
    saved.value.save_as(file)
    assert file.read_bytes().startswith(b"\x89PNG")

    shown.locator(".soulmem_heart_open").first.click()
    tab.locator('[data-page="people"] .soulmem_column_detail h3', has_text=scene.friend).wait_for()
    assert page.uncaught == []
