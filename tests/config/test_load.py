"""Loading: file, environment and command line in this order; whatever is wrong is named with its remedy."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from soulmem.config import load
from soulmem.config.load import variable
from soulmem.config.setting_error import ConfigError
from soulmem.config.settings import (
    SECTIONS,
    DigestSettings,
    PromptSettings,
    ServerSettings,
    SoulDefaults,
    is_loopback,
)
from soulmem.domain.digests import Period
from soulmem.domain.soul import DigestChoice, SoulSettings

Home = dict[str, str]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """An environment whose data folder is a fresh one."""
    return {"SOULMEM_DATA": str(tmp_path / "data")}


def written(tmp_path: Path, text: str) -> Path:
    """A settings file with this text."""
    path = tmp_path / "my.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_need_no_file(home: Home, tmp_path: Path) -> None:
    settings = load(env=home)
    assert settings.data == tmp_path / "data"
    assert (settings.server.host, settings.server.port) == ("127.0.0.1", 8731)
    assert settings.server.origins == ("http://127.0.0.1:8000", "http://localhost:8000")
    assert settings.embedder.model == "intfloat/multilingual-e5-small"
    assert (settings.recall.budget_tokens, settings.recall.max_items) == (1200, 8)
    assert not settings.data.exists()


def test_later_sources_win(home: Home, tmp_path: Path) -> None:
    file = written(tmp_path, "[recall]\nbudget_tokens = 1\nmax_items = 2\ntime_budget_ms = 3\n")
    env = {
        **home,
        "SOULMEM_RECALL_MAX_ITEMS": "20",
        "SOULMEM_RECALL_TIME_BUDGET_MS": "30",
    }
    recall = load(file, env=env, overrides={"recall.time_budget_ms": 300}).recall
    assert (recall.budget_tokens, recall.max_items, recall.time_budget_ms) == (
        1,
        20,
        300,
    )


def test_the_file_in_the_data_folder_is_read(home: Home, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "config.toml").write_text("\ufeff[server]\nport = 9\n", encoding="utf-8")
    assert load(env=home).server.port == 9
    assert load(env={}, overrides={"store.data": str(tmp_path / "data")}).server.port == 9


def test_a_file_may_name_the_data_folder(tmp_path: Path) -> None:
    file = written(tmp_path, f"[store]\ndata = {str(tmp_path / 'far')!r}\n")
    assert load(file, env={}).data == tmp_path / "far"
    assert load(file, env={"SOULMEM_STORE_DATA": str(tmp_path / "near")}).data == tmp_path / "near"


VALUES: dict[str, tuple[str, Any]] = {
    "str": ("ok", "ok"),
    "int": (" 17 ", 17),
    "float": ("1.5", 1.5),
    "bool": ("Yes", True),
    "tuple[str, ...]": ("http://a:1, http://b:2", ("http://a:1", "http://b:2")),
}
CHOSEN = {
    "soul.scope": ("chat", "chat"),
    "soul.clock": ("wall", "wall"),
    "log.level": ("debug", "debug"),
    "recall.fires_from": ("0.35", 0.35),
    "spreading.start": ("0.5", 0.5),
    "spreading.threshold": ("0.2", 0.2),
    "spreading.transmission": ("0.25", 0.25),
    "spreading.rounds": ("4", 4),
    "spreading.delta": ("0.01", 0.01),
    "spreading.base": ("0.5", 0.5),
    "soul.decay": ("hybrid", "hybrid"),
    "soul.keep": ("2000", 2000),
    "soul.push": ("rare", "rare"),
    "soul.fades": ("false", False),
    "soul.masks": ("seed", "seed"),
    "soul.knows_it_forgets": ("true", True),
    "soul.rewords": ("false", False),
    "digest.periods": ("hour, year", ("hour", "year")),
    "prompt.sections_off": ("summary, facts", ("summary", "facts")),
    "embedder.hub": ("https://a.example/hub", "https://a.example/hub"),
    "llm.base_url": ("http://a:1/v1", "http://a:1/v1"),
    "llm.archivist_base_url": ("https://a/v1", "https://a/v1"),
    "llm.context_tokens": ("8192", 8192),
    "store.database": ("mine", "mine"),
    "server.token": ("t" * 20, "t" * 20),
}


def keys_and_types() -> list[tuple[str, Any]]:
    """Every setting with its type."""
    settings = []
    for name, section in SECTIONS.items():
        settings += [(f"{name}.{each.name}", each.type) for each in fields(section)]
    return settings


@pytest.mark.parametrize(("key", "kind"), keys_and_types())
def test_every_setting_can_be_given_by_environment(key: str, kind: str, home: Home) -> None:
    text, value = CHOSEN.get(key, VALUES[kind])
    settings = load(env={**home, variable(key): text})
    section, name = key.split(".")
    assert getattr(getattr(settings, section), name) == value


def test_the_short_name_of_the_token(home: Home) -> None:
    assert load(env={**home, "SOULMEM_TOKEN": "x" * 16}).server.token == "x" * 16


def test_other_variables_are_left_alone(home: Home) -> None:
    load(
        env={
            **home,
            "SOULMEM_TEST_DATA": "x",
            "SOULMEM_LLM_MODEL": "later",
            "SOULMEM": "x",
            "PATH": "/",
        }
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[server]\nprot = 1", ["my.toml", "server.prot", "1", "port"]),
        ("[servre]\nport = 1", ["my.toml", "servre", "server"]),
        ("port = 1", ["my.toml", "port", "server"]),
        (
            "[server]\nport = '8731'",
            ["my.toml", "server.port", "'8731'", "whole number"],
        ),
        ("[server]\nport = 8731.0", ["my.toml", "server.port", "whole number"]),
        ("[server]\nport = true", ["my.toml", "server.port", "whole number"]),
        ("[server]\nport = 65536", ["my.toml", "server.port", "65536", "0..65535"]),
        ("[server]\norigins = 'http://a:1'", ["my.toml", "server.origins", "list"]),
        ("[server]\norigins = [7]", ["my.toml", "server.origins", "list"]),
        (
            "[server]\norigins = ['*']",
            ["my.toml", "server.origins", "'*'", "without *"],
        ),
        (
            "[server]\norigins = ['http://a:1/']",
            ["my.toml", "server.origins", "at the end"],
        ),
        ("[server]\ntoken = 'short'", ["my.toml", "server.token", "16"]),
        (
            "[server]\ntoken = 'with some spaces in it'",
            ["my.toml", "server.token", "spaces"],
        ),
        (
            "[embedder]\noffline = 'no'",
            ["my.toml", "embedder.offline", "true or false"],
        ),
        (
            "[soul]\nscope = 'world'",
            ["my.toml", "soul.scope", "'world'", "character, chat"],
        ),
        (
            "[prompt]\nsections_off = ['permanent']",
            ["my.toml", "prompt.sections_off", "'permanent'", "summary"],
        ),
        ("[soul]\nforgetting = 2.5", ["my.toml", "soul.forgetting", "2.5", "0.0..2.0"]),
        ("[soul]\ndecay = 'linear'", ["my.toml", "soul.decay", "linear", "hybrid"]),
        ("[soul]\nforgetting = nan", ["my.toml", "soul.forgetting", "nan"]),
        ("[soul]\nrestraint = -1", ["my.toml", "soul.restraint", "-1", "0.0..2.0"]),
        ("[soul]\nkeep = 99", ["my.toml", "soul.keep", "99", "100..1000000"]),
        ("[log]\nlevel = 'loud'", ["my.toml", "log.level", "'loud'", "debug"]),
        (
            "[store]\ndatabase = 'a b'",
            ["my.toml", "store.database", "'a b'", "letters"],
        ),
        ("[recall\n", ["my.toml", "TOML"]),
    ],
)
def test_a_wrong_file_is_told(home: Home, tmp_path: Path, text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        load(written(tmp_path, text), env=home)
    assert all(word in caught.value.message for word in words), caught.value.message


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        (
            "SOULMEM_SERVER_PORT",
            "many",
            ["SOULMEM_SERVER_PORT", "server.port", "'many'", "whole number"],
        ),
        ("SOULMEM_SERVER_PORT", "", ["SOULMEM_SERVER_PORT", "''"]),
        ("SOULMEM_SERVER_PORT", "-1", ["SOULMEM_SERVER_PORT", "-1", "0..65535"]),
        ("SOULMEM_SERVER_PROT", "1", ["SOULMEM_SERVER_PROT"]),
        ("SOULMEM_SOUL_FORGETTING", "x", ["SOULMEM_SOUL_FORGETTING", "a number"]),
        (
            "SOULMEM_EMBEDDER_OFFLINE",
            "maybe",
            ["SOULMEM_EMBEDDER_OFFLINE", "true or false"],
        ),
        ("SOULMEM_TOKEN", "short", ["SOULMEM_TOKEN", "16"]),
    ],
)
def test_a_wrong_variable_is_told(home: Home, name: str, text: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        load(env={**home, name: text})
    assert all(word in caught.value.message for word in words), caught.value.message


def test_a_wrong_override_is_told(home: Home) -> None:
    with pytest.raises(ConfigError, match=r"command line \(server.port\).*70000"):
        load(env=home, overrides={"server.port": 70000})
    with pytest.raises(ConfigError, match=r"server\.prot"):
        load(env=home, overrides={"server.prot": 1})


def test_a_file_that_is_named_must_be_there(home: Home, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"nowhere\.toml.*--config"):
        load(tmp_path / "nowhere.toml", env=home)


def test_a_file_that_cannot_be_read_is_told(home: Home, tmp_path: Path) -> None:
    (tmp_path / "my.toml").write_bytes(b"\xff\xfe[server]")
    with pytest.raises(ConfigError, match=r"my\.toml"):
        load(tmp_path / "my.toml", env=home)
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path, env=home)


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("192.168.1.5", False),
        ("", False),
        ("localhost.evil.example", False),
    ],
)
def test_loopback(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
    assert ServerSettings(host=host).loopback is loopback


def test_the_defaults_of_a_soul_are_those_of_the_domain() -> None:
    assert SoulDefaults().as_settings() == SoulSettings()


def test_what_is_set_for_digests_is_the_default_of_souls() -> None:
    digest = DigestSettings(hour=4, periods=("hour", "day"))
    chosen = SoulDefaults().as_settings(digest=digest).digest
    assert chosen == DigestChoice(4, (Period.HOUR, Period.DAY))


def test_headers_and_sections_of_the_prompt_become_defaults_of_souls() -> None:
    prompt = PromptSettings(header_facts="[Known:]", header_summary="", sections_off=("self",))
    defaults = SoulDefaults().as_settings(prompt)
    assert defaults.headers == {"facts": "[Known:]", "summary": ""}
    assert defaults.sections_off == ("self",)
