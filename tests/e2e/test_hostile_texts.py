"""Texts that try to be pages: none runs, becomes an element or breaks the layout, wherever it is shown."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .memory_window import DESKTOP, PHONE, TOO_WIDE, MemoryWindow
from .small_talk import small_talk
from .stories import PARROT

if TYPE_CHECKING:
    from playwright.sync_api import Dialog, Route

# Each would leave a mark in `hostile` if it ran, and an element with the class `hostile` if it were parsed.
MARKUP = (
    "<script class=hostile>hostile.push('script')</script>",
    "<img class=hostile src=x onerror=\"hostile.push('img')\">",
    "<svg class=hostile onload=\"hostile.push('svg')\"><a/></svg>",
    "\"' onmouseover='hostile.push(1)' autofocus onfocus='hostile.push(2)' class='hostile",
    '</textarea></option></title></div><iframe class=hostile srcdoc="<script>parent.hostile.push(3)</script>">',
    "[go](javascript:hostile.push('link)) ![x](x onerror=hostile.push('md'))",
    '<a class=hostile href="javascript:hostile.push(\'a\')" style="position:fixed;inset:0">x</a>',
    "{{setglobalvar::hostile::1}} {\\{setglobalvar::hostile::1}} <% hostile.push('ejs') %>",
)
# Written from the right, turned around, without a place to break at, with marks on marks.
SHAPES = (
    "\u202eمرحبا بك\u202c \u2067שלום\u2069",
    "Q" * 300,
    "Z\u0351\u0352\u0353" * 40,
)
NAME = f"{MARKUP[1]}{MARKUP[3]}{SHAPES[0]}"[:200]
TEXT = "\n".join((*MARKUP, *SHAPES))
LONG = f"{MARKUP[0]}{'Endless' * 1400}"  # some 10,000 characters in one word

WATCH = "globalThis.hostile = [];"
RAN = """() => [
    ...globalThis.hostile,
    ...(SillyTavern.getContext().extensionSettings.variables?.global?.hostile ? ['macro'] : []),
]"""
# Elements that a text made, within what is ours.
MADE = """() => [...document.querySelectorAll(
    '#soulmem_browser .hostile, #soulmem_drawer .hostile, #soulmem_dot .hostile, #toast-container .hostile,'
    + '.soulmem_recalled .hostile')].map(one => one.outerHTML.slice(0, 120))"""
OVERFLOW = (
    "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
)
PAGES = (
    *("her", "recall", "memories", "people", "habits", "graph", "check"),
    *("fading", "bin", "changes", "waiting", "work"),
)


def test_no_text_runs_or_breaks_the_layout(window: MemoryWindow) -> None:
    page, tab = window.page, window.tab
    dialogs: list[str] = []

    def refuse(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    tab.on("dialog", refuse)
    tab.add_init_script(WATCH)
    told = [(f"{text} {n}", f"*nods* {text}") for n, text in enumerate(MARKUP)]
    window.enter_chat(
        "hostile", "Mira", "en", [PARROT.exchange, *told, *small_talk("en", 6)]
    )
    fill(window)

    def check(where: str) -> None:
        assert not dialogs, where
        assert not tab.evaluate(RAN), where
        assert not tab.evaluate(MADE), where
        assert tab.evaluate(OVERFLOW) <= 0, where

    for size, name in ((DESKTOP, "desktop"), (PHONE, "phone")):
        tab.set_viewport_size(size)  # type: ignore[arg-type]
        tab.route("**/health*", lie_about_health)
        page.open_drawer()
        tab.click("#soulmem_look")
        tab.locator("#soulmem_checks", has_text="setglobalvar").wait_for(
            state="attached"
        )
        page.screenshot(f"hostile-drawer-{name}")
        check(f"drawer {name}")
        tab.unroute("**/health*")
        tab.click("#soulmem_browse")
        for shown in PAGES:
            window.turn_to(shown)
            window.settle()
            if shown == "recall":
                tab.fill("#soulmem_try_line", PARROT.exchange[0])
                window.press("#soulmem_try_go")
                tab.locator(".soulmem_recalled_summary").first.wait_for()
            page.screenshot(f"hostile-{shown}-{name}")
            check(f"{shown} {name}")
            assert not tab.evaluate(TOO_WIDE), f"{shown} {name}"
        window.turn_to("memories")
        window.show("Endless")
        page.screenshot(f"hostile-memory-{name}")
        check(f"memory {name}")
        assert not tab.evaluate(TOO_WIDE), f"memory {name}"
        tab.route("**/memories?*", refuse_with_markup)
        window.turn_to("bin")
        window.turn_to("memories")
        tab.locator(".soulmem_notice", has_text="setglobalvar").wait_for()
        page.screenshot(f"hostile-error-{name}")
        check(f"error {name}")
        assert not tab.evaluate(TOO_WIDE), f"error {name}"
        tab.unroute("**/memories?*")
        tab.click("#soulmem_close")
        tab.locator("#soulmem_browser").wait_for(state="detached")


def fill(window: MemoryWindow) -> None:
    """Hostile texts in everything that the sidecar keeps for this soul."""
    sidecar, soul = window.world.sidecar, window.soul

    def make(kind: str, text: str, **more: Any) -> str:
        body = {"soul": soul, "kind": kind, "text": text, **more}
        return str(sidecar.ask("POST", "/memories", body)["id"])

    tags = [NAME[:60], SHAPES[1][:60]]
    person = make("concept", NAME, fields={"aliases": [NAME[::-1], MARKUP[2]]})
    other = make("concept", SHAPES[1])
    make(
        "note",
        TEXT,
        tags=tags,
        edges=[
            {"kind": "mentions", "to": person},
            {"kind": "mentions", "to": other},
        ],
    )
    make("note", LONG, permanent=True, tags=tags)
    edge = {"kind": "relates", "to": other, "verb": MARKUP[1]}
    sidecar.ask("PATCH", f"/memories/{person}", {"edges": [edge]})
    action = make("action", MARKUP[1])
    make("trigger", MARKUP[2], edges=[{"kind": "fires", "to": action}])
    binned = make("note", f"binned {TEXT}")
    sidecar.ask("DELETE", f"/memories/{binned}")
    asked = make("note", f"asked for {MARKUP[0]}")
    window.tool("delete_memory", memory_id=asked, reason=MARKUP[1])
    sidecar.ask(
        "POST",
        "/jobs",
        {"kind": "digest", "soul": soul, "arguments": {"period": "day"}},
    )


def lie_about_health(route: Route) -> None:
    """The sidecar's health with markup in every text."""
    answer = route.fetch()
    health = answer.json()
    health["notes"], health["note_phrases"] = [TEXT, LONG], [None, None]
    health["store"]["detail"] = TEXT
    health["embedder"]["model"] = MARKUP[1]
    health["version"] = MARKUP[2]
    health["status"] = "degraded"
    health["opening"] = [{"soul": "s", "name": NAME, "memories": 1, "of": 2}]
    route.fulfill(response=answer, body=json.dumps(health))


def refuse_with_markup(route: Route) -> None:
    """A refusal whose message is markup."""
    route.fulfill(
        status=422, json={"error": {"code": "unprocessable", "message": TEXT}}
    )
