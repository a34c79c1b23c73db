"""A page that the sidecar does not answer, or refuses, shows the next step."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from .conftest import FOREIGN, World
from .memory_window import DESKTOP, PHONE
from .ports import free_port


@pytest.mark.parametrize("language", ["en", pytest.param("zh-cn", marks=pytest.mark.nightly)])
def test_a_page_from_elsewhere_is_told_what_lets_it_in(
    world_without_plugin: World, language: str
) -> None:
    """Its SillyTavern is reached by a name of the network, and there is no plugin in between."""
    page = world_without_plugin.page
    origin = f"http://{FOREIGN}:{urlsplit(world_without_plugin.tavern.url).port}"
    page.load(language, origin)
    assert page.wait_for_dot("off", "error", "down") == "origin_refused"
    page.open_drawer()
    shown = page.tab.locator("#soulmem_step")
    assert origin in shown.inner_text()
    assert "config.toml" in shown.inner_text()
    page.screenshot(f"refused-{language}")
    page.tab.set_viewport_size(PHONE)  # type: ignore[arg-type]
    page.screenshot(f"refused-{language}-phone")
    page.tab.set_viewport_size(DESKTOP)  # type: ignore[arg-type]


@pytest.mark.nightly
def test_an_address_is_completed_and_nonsense_is_refused_in_words(
    world_without_plugin: World,
) -> None:
    world = world_without_plugin
    page, tab = world.page, world.page.tab
    page.load()
    page.wait_for_dot("ok")
    page.open_drawer()
    field = tab.locator("#soulmem_url")
    wrong = f"127.0.0.1:{free_port()}"
    field.fill(wrong)
    field.dispatch_event("change")
    assert field.input_value() == f"http://{wrong}"
    page.wait_for_dot("off", "error", "down")
    tab.locator(
        "#soulmem_step", has_text=f"http://{wrong}"
    ).wait_for()  # it names what did not answer
    page.screenshot("wrong-port-en")
    field.fill("my computer")
    field.dispatch_event("change")
    tab.locator(".toast-warning", has_text='"my computer" is no address').wait_for()
    assert field.input_value() == f"http://{wrong}"
    field.fill(f"127.0.0.1:{world.gate.port}")
    field.dispatch_event("change")
    page.wait_for_dot("ok")
