"""Settings of SoulMem and their sources: file, environment, command line."""

from soulmem.config.load import load
from soulmem.config.settings import Settings

__all__ = ["Settings", "load"]
