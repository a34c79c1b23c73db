"""Port: texts to vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.errors import SoulMemError


class EmbedderError(SoulMemError):
    """A loaded model failed on these texts; the message names the model."""

    code = "embedder"


class Embedder(Protocol):
    """Texts to unit vectors. Blocks, so never called on the event loop; one thread at a time."""

    @property
    def name(self) -> str:
        """Display name of the model."""
        ...

    @property
    def model(self) -> str:
        """Identity of weights, prompt and length limit; only vectors of one identity can be compared."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    @property
    def prompt(self) -> str:
        """Prefix of every text; empty for none."""
        ...

    @property
    def lacks_prompt(self) -> bool:
        """True if the model was trained with a prompt and is used without one, which loses quality."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dim), C-contiguous, every row of length 1, in the order of `texts`.

        A text longer than the model reads is cut at the end. Raises EmbedderError.
        """
        ...
