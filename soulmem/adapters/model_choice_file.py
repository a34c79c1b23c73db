"""The user's choice of the model for memory work, as a file in the data folder that only the user can read."""

from __future__ import annotations

import json
import logging
from pathlib import Path

from soulmem.adapters.disk_files import replace_file
from soulmem.domain.errors import Unprocessable
from soulmem.domain.foreign_json import read_json
from soulmem.domain.llm import ModelChoice, ModelUse

log = logging.getLogger(__name__)


class JsonModelChoice:
    """One JSON file (mode 0600). A file that cannot be read counts as none, so that SoulMem starts."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self) -> ModelChoice:
        """The stored choice; that of the settings where none can be read."""
        try:
            fields = read_json(self._path.read_bytes())
            return ModelChoice(
                ModelUse(fields["use"]),
                str(fields["model"]),
                str(fields["base_url"]),
                str(fields["api_key"]),
            )
        except FileNotFoundError:
            return ModelChoice()
        except (OSError, ValueError, KeyError, TypeError, Unprocessable) as error:
            log.warning("%s is left aside: %s", self._path, error)
            return ModelChoice()

    def write(self, choice: ModelChoice) -> None:
        """Store a choice, whole or not at all. Raises OSError."""
        text = json.dumps(
            {
                "use": choice.use.value,
                "model": choice.model,
                "base_url": choice.base_url,
                "api_key": choice.api_key,
            }
        )
        self._path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self._path, text.encode(), 0o600)
