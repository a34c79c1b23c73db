"""Which settings SoulMem has and where their values come from: file, environment, command line."""

from soulmem.config.load import load
from soulmem.config.settings import Settings

__all__ = ["Settings", "load"]
