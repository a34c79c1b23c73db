"""What turns texts into vectors, and what it promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.errors import SoulMemError


class EmbedderError(SoulMemError):
    """A loaded model failed on these texts; the message says which model."""

    code = "embedder"


class Embedder(Protocol):
    """Texts to unit vectors. Blocking, so never called on the event loop; one thread at a time."""

    @property
    def name(self) -> str:
        """The model as a person would name it."""
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
        """What stands before every text; empty for none."""
        ...

    @property
    def lacks_prompt(self) -> bool:
        """Whether the model was trained with a prompt and is used without one: it then finds less."""
        ...

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Shape (len(texts), dim), C-contiguous, every row of length 1, in the order of `texts`.

        A text longer than the model reads is cut at the end. Raises EmbedderError.
        """
        ...
