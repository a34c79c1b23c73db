"""SillyTavern worked by a user: its page in a browser."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .child import PATIENCE, until
from .mock_llm import MockLlm, Prompt

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, ConsoleMessage
    from playwright.sync_api import Error as PageError

LOADED = (
    "() => globalThis.SillyTavern?.getContext?.()?.eventSource?.autoFireLastArgs?.has('app_ready')"
)
ONLINE = "() => SillyTavern.getContext().onlineStatus !== 'no_connection'"
QUIET = "() => !document.body.dataset.generating"
TAKEN = "() => document.querySelector('#send_textarea').value === ''"
COUNT_EVENTS = """() => {
    const { eventSource, eventTypes } = SillyTavern.getContext();
    globalThis.e2e = {};
    const names = ['CHARACTER_MESSAGE_RENDERED', 'GENERATION_ENDED', 'CHAT_CHANGED', 'MESSAGE_UPDATED'];
    for (const name of names) {
        e2e[name] = 0;
        eventSource.on(eventTypes[name], () => { e2e[name] += 1; });
    }
}"""
# What a test may change that outlasts its chat, but for which soul a character has.
STATE = """async () => {
    const settings = '/scripts/extensions/third-party/SoulMem/extension_js/src/base/settings.js';
    const { DEFAULTS } = await import(settings);
    const { extensionSettings, chatCompletionSettings, powerUserSettings } = SillyTavern.getContext();
    const { souls, kept, ...own } = { ...DEFAULTS, ...extensionSettings.soulmem };
    return JSON.stringify([own, chatCompletionSettings, powerUserSettings]);
}"""
AT_REST = """() => !document.body.dataset.generating && !document.querySelector('dialog[open]')
    && document.querySelector('#soulmem_dot')?.dataset.state === 'ok'"""
# No chat is open, nothing is folded out, no character has a soul by its file's name, and what files say of
# characters and worlds is read anew.
BEGIN_ANEW = """async () => {
    toastr.clear();
    const panel = document.querySelector('#extensions-settings-button');
    if (panel.querySelector('.drawer-icon.openIcon')) panel.querySelector('.drawer-toggle').click();
    document.querySelectorAll('#soulmem_drawer details[open]').forEach(each => { each.open = false; });
    document.querySelector('#send_textarea').value = '';
    const { closeCurrentChat, getCharacters } = await import('/script.js');
    const { updateWorldInfoList } = await import('/scripts/world-info.js');
    await closeCurrentChat();
    Object.assign(SillyTavern.getContext().extensionSettings.soulmem, { souls: {}, kept: {} });
    await updateWorldInfoList();
    await getCharacters();
}"""
# Playwright's evaluate has no time-out of its own: a promise that never settles would hang the run.
LIMITED = """async ([code, argument, seconds]) => {
    const fail = reject => () => reject(new Error(`not within ${seconds} s`));
    const late = new Promise((_, reject) => setTimeout(fail(reject), seconds * 1000));
    return Promise.race([(0, eval)(code)(argument), late]);
}"""


_LOOKS = 50  # milliseconds between two looks


class TavernPage:
    """One browser tab with SillyTavern, and what the model was told because of it."""

    def __init__(self, context: BrowserContext, url: str, llm: MockLlm) -> None:
        self.llm = llm
        self._url = url
        self.tab = context.new_page()
        self.console: list[str] = []
        self.uncaught: list[str] = []
        # Language and origin it was loaded with; the same where a new test may go on with it.
        self._loaded: tuple[str, str | None] | None = None
        self._kept: tuple[str, str | None] | None = None
        self._state = ""
        self.tab.on("console", self._on_console)
        self.tab.on("pageerror", self._on_error)

    def _on_console(self, message: ConsoleMessage) -> None:
        where = message.location.get("url", "")
        self.console.append(f"{message.type}: {message.text} ({where})")

    def _on_error(self, error: PageError) -> None:
        self.uncaught.append(f"{error.message}\n{error.stack}")

    # Opening

    def begin(self) -> None:
        """A new test begins: its first `load` may go on with the page as it stands."""
        self.console.clear()
        self.uncaught.clear()
        self._kept = self._loaded

    def load(self, language: str = "en", origin: str | None = None) -> None:
        """Have SillyTavern in `language`, ready and connected to the model, with no chat open.

        It is loaded, unless the test before left it at rest in this language and with the settings that
        it had: then only its chat is closed.

        origin  under which it is opened, when that is not its own address
        """
        from playwright.sync_api import Error

        wanted = (language, origin)
        if self._kept == wanted and self._is_as_loaded():
            self._kept = None
            # Another SillyTavern of this machine may have taken the cookie: then it is loaded.
            with suppress(Error):
                self.run(BEGIN_ANEW)
                return
        self._kept = self._loaded = None
        self.tab.add_init_script(f"localStorage.setItem('language', '{language}')")
        self.tab.goto(
            origin or self._url,
            wait_until="domcontentloaded",
            timeout=60_000 * PATIENCE,
        )
        self.wait(LOADED, timeout=60_000 * PATIENCE)
        self.wait(ONLINE)
        self.tab.evaluate(COUNT_EVENTS)
        self._loaded, self._state = wanted, self.run(STATE)

    def _is_as_loaded(self) -> bool:
        """Whether it is at rest, and has the settings that it was loaded with."""
        return bool(self.tab.evaluate(AT_REST) and self.run(STATE) == self._state)

    def open_character(self, avatar: str) -> None:
        """Open the character's last chat."""
        code = """async avatar => {
            const context = SillyTavern.getContext();
            await context.selectCharacterById(context.characters.findIndex(one => one.avatar === avatar));
        }"""
        before = self.events("CHAT_CHANGED")
        self.run(code, avatar)
        self.wait_for_event("CHAT_CHANGED", before)
        self.wait("() => SillyTavern.getContext().chat.length > 0")

    def open_chat(self, name: str) -> None:
        """Open another chat of the same character."""
        before = self.events("CHAT_CHANGED")
        self.run("name => SillyTavern.getContext().openCharacterChat(name)", name)
        self.wait_for_event("CHAT_CHANGED", before)

    def open_group(self, name: str) -> None:
        before = self.events("CHAT_CHANGED")
        self.slash(f"/go {name}")
        self.wait_for_event("CHAT_CHANGED", before)

    # Talking

    def send(self, text: str) -> Prompt:
        """Say `text`, wait for the whole reply, and return what the model was told."""
        return self._reply_to(lambda: self.press_send(text))

    def press_send(self, text: str) -> None:
        """Say `text`, and wait only until SillyTavern takes it: not while it saves."""
        from playwright.sync_api import TimeoutError

        self._type(text)
        for patience in (3000, 3000, 10_000):
            self.tab.click("#send_but")
            try:
                self.wait(TAKEN, timeout=patience)
                return
            except TimeoutError:
                continue

    def _type(self, text: str) -> None:
        # A click waits for a loader above the page to go; a fill would not, and then the box is emptied.
        self.tab.click("#send_textarea")
        self.tab.fill("#send_textarea", text)

    def say_without_reply(self, text: str) -> None:
        """Say `text` where nobody answers by himself."""
        length = self.length
        self.press_send(text)
        self.wait("n => SillyTavern.getContext().chat.length > n", arg=length)
        self.wait(QUIET)

    def swipe(self) -> Prompt:
        """Ask for another version of the last reply."""
        return self._reply_to(lambda: self.tab.click("#chat .last_mes .swipe_right"))

    def let_speak(self, member: str) -> Prompt:
        """Have a member of the group answer."""
        return self._reply_to(lambda: self.slash(f"/trigger {member}"))

    def talk_on(self, speaker: str, exchanges: Sequence[tuple[str, str]]) -> Prompt:
        """Chat until what was said before is out of the prompt; the last message gets a real reply."""
        self.talk(speaker, exchanges)
        return self.send("Shall we go on?")

    def talk(self, speaker: str, exchanges: Sequence[tuple[str, str]]) -> None:
        """Have these exchanges in the chat, three of them in two messages: each is saved and shown by itself."""
        for first in range(0, len(exchanges), 3):
            mine, theirs = zip(*exchanges[first : first + 3], strict=True)
            self.slash(f"/send {' '.join(mine)}")
            self.slash(f'/sendas name="{speaker}" {" ".join(theirs)}')

    def _reply_to(self, action: Any) -> Prompt:
        before, prompts = (
            self.events("CHARACTER_MESSAGE_RENDERED"),
            len(self.llm.prompts),
        )
        action()
        self.wait_for_event("CHARACTER_MESSAGE_RENDERED", before)
        self.wait(QUIET)
        until(lambda: len(self.llm.prompts) > prompts, 5, "a request to the model")
        return self.llm.prompts[-1]

    # Changing the chat

    def slash(self, command: str) -> str:
        """Run a slash command; returns what it pipes on."""
        code = "async command => (await SillyTavern.getContext().executeSlashCommandsWithOptions(command)).pipe"
        return str(self.run(code, command))

    def edit(self, index: int, text: str) -> None:
        """Rewrite message `index` by hand."""
        before = self.events("MESSAGE_UPDATED")
        message = self.tab.locator(f'#chat .mes[mesid="{index}"]')
        message.scroll_into_view_if_needed()
        message.locator(".extraMesButtonsHint").click()
        message.locator(".mes_edit").click()
        self.tab.fill("#curEditTextarea", text)
        message.locator(".mes_edit_done").click()
        self.wait_for_event("MESSAGE_UPDATED", before)

    @property
    def length(self) -> int:
        """How many messages the open chat has."""
        return int(self.tab.evaluate("() => SillyTavern.getContext().chat.length"))

    @property
    def chat_name(self) -> str:
        return str(self.tab.evaluate("() => SillyTavern.getContext().getCurrentChatId()"))

    def index_of(self, text: str) -> int:
        """Where in the chat `text` stands."""
        return int(
            self.tab.evaluate(
                "text => SillyTavern.getContext().chat.findIndex(m => m.mes.includes(text))",
                text,
            )
        )

    # SoulMem

    def wait_for_dot(self, *states: str, seconds: float = 30.0) -> str:
        """Wait until the health dot shows one of `states`; returns its next step."""
        wanted = ", ".join(f'#soulmem_dot[data-state="{state}"]' for state in states)
        self.tab.wait_for_selector(wanted, state="attached", timeout=seconds * 1000 * PATIENCE)
        return self.tab.get_attribute("#soulmem_dot", "data-step") or ""

    def open_drawer(self) -> None:
        """Open the settings drawer as the dot does it."""
        self.tab.click("#soulmem_dot")
        self.tab.wait_for_selector("#soulmem_state")
        advanced = self.tab.locator("#soulmem_advanced")
        if advanced.get_attribute("open") is None:
            advanced.locator("> summary").click()

    def close_drawer(self) -> None:
        """Fold SillyTavern's panel of extensions, which lies above the chat on a phone."""
        self.run(
            "() => document.querySelector('#extensions-settings-button .drawer-toggle').click()"
        )

    def say_yes(self) -> None:
        """To the question on the screen; the window of all memories may stand below it."""
        self.tab.click("dialog.popup[open]:not(:has(#soulmem_browser)) .popup-button-ok")

    def sync(self) -> dict[str, Any]:
        """Bring the sidecar up to date now."""
        answer: dict[str, Any] = self.run("() => globalThis.soulmem.syncNow()", seconds=60)
        return answer

    @property
    def soulmem(self) -> dict[str, Any]:
        """The extension's own account of itself."""
        state: dict[str, Any] = self.tab.evaluate("() => globalThis.soulmem.state()")
        return state

    def account(self) -> str:
        """What the extension says of itself and its last recall, for a failed test's report."""
        from playwright.sync_api import Error

        try:
            return json.dumps([self.soulmem, self.last_recall], ensure_ascii=False)
        except Error as error:
            return str(error)

    def set(self, key: str, value: object) -> None:
        """Change one of the extension's settings."""
        code = (
            "([key, value]) => { SillyTavern.getContext().extensionSettings.soulmem[key] = value; }"
        )
        self.tab.evaluate(code, [key, value])

    @property
    def last_recall(self) -> dict[str, Any] | None:
        recall: dict[str, Any] | None = self.tab.evaluate("() => globalThis.soulmem.lastRecall()")
        return recall

    # Machinery

    def wait(self, code: str, *, arg: object = None, timeout: float | None = None) -> None:
        """Wait until a JavaScript function says yes.

        Playwright would ask it at each frame, and so make the browser draw sixty of them a second.
        """
        self.tab.wait_for_function(code, arg=arg, timeout=timeout, polling=_LOOKS)

    def run(self, code: str, argument: object = None, seconds: float = 30.0) -> Any:
        """The value of an (async) JavaScript function, or its error."""
        return self.tab.evaluate(LIMITED, [code, argument, seconds * PATIENCE])

    def record_requests(self) -> list[str]:
        """The addresses the page asks from now on; the list grows."""
        asked: list[str] = []
        self.tab.on("request", lambda request: asked.append(request.url))
        return asked

    def screenshot(self, name: str) -> None:
        """Save the page as `name`.png, where `SOULMEM_E2E_SHOTS` names a folder."""
        folder = os.environ.get("SOULMEM_E2E_SHOTS")
        if folder:
            Path(folder).mkdir(parents=True, exist_ok=True)
            self.tab.screenshot(path=str(Path(folder) / f"{name}.png"))

    def seconds_to_prompt(self, text: str) -> float:
        """Seconds from pressing Send to the model's being asked."""
        self._type(text)
        pressed = time.monotonic()
        prompt = self._reply_to(lambda: self.tab.click("#send_but"))
        return prompt.arrived - pressed

    def tokens(self, text: str) -> int:
        """How many tokens SillyTavern itself counts in `text`."""
        return int(self.run("text => SillyTavern.getContext().getTokenCountAsync(text)", text))

    def events(self, name: str) -> int:
        """How often event `name` was seen since the page was loaded."""
        return int(self.tab.evaluate("name => e2e[name]", name))

    def wait_for_event(self, name: str, before: int, seconds: float = 30.0) -> None:
        """Wait until event `name` was seen more than `before` times."""
        self.wait(
            "([name, n]) => e2e[name] > n",
            arg=[name, before],
            timeout=seconds * 1000 * PATIENCE,
        )
