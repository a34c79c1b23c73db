"""The tests of the contract that run through a websocket, too."""

from __future__ import annotations

import pytest

from tests.ports.stores import KINDS

# A server does what the engine in this process does: over the wire only encoding and errors can differ.
over_the_wire = pytest.mark.parametrize("make", [*KINDS, "ws bridge"], indirect=True)
