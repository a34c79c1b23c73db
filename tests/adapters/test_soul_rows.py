"""Rows of souls: those that older versions wrote are read."""

from __future__ import annotations

import json

from soulmem.adapters.surreal.rows import soul_of, soul_row
from soulmem.domain.ids import DEFAULT_OWNER, SoulId
from soulmem.domain.soul import Soul, SoulSettings


def test_a_row_without_restraint_has_the_default() -> None:
    soul = Soul(SoulId("s1"), "Mira", settings=SoulSettings(restraint=2.0))
    row = soul_row(DEFAULT_OWNER, soul)
    settings = {name: v for name, v in row["settings"].items() if name != "restraint"}

    def read(settings: object) -> Soul:
        line = ["s1", "Mira", [], settings, "active", None]
        return soul_of(json.dumps(line))

    assert read(row["settings"]).settings.restraint == 2.0
    assert read(settings).settings.restraint == 1.0
