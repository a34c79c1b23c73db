"""Port: texts to vectors, and to the states of their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from soulmem.domain.errors import SoulMemError


class EmbedderError(SoulMemError):
    """A loaded model failed on these texts; the message names the model."""

    code = "embedder"


@dataclass(frozen=True, slots=True)
class TextInContext:
    """A text, and what stands before it when the model reads it; an empty context is none."""

    text: str
    context: str = ""

    @property
    def whole(self) -> str:
        """Context and text as the model reads them, a line each."""
        return f"{self.context}\n{self.text}" if self.context else self.text


@dataclass(frozen=True, slots=True)
class TokenStates:
    """What one pass of a model over a text in its context gives.

    pooled  float32[dim]             unit vector of context and text together
    states  float32[k, token_width]  unit rows: the states of the text's own k tokens, read in context;
                                     punctuation has none beside words
    pieces  int32[k]                 number of each of these tokens in the model's vocabulary
    begins  bool[k]                  whether a passage of the text begins with it, see `language.passages`;
                                     where the tokens do not show the passages, the first alone
    """

    pooled: NDArray[np.float32]
    states: NDArray[np.float32]
    pieces: NDArray[np.int32]
    begins: NDArray[np.bool_]


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

        A text longer than the model reads is read in windows; its vector is their mean. Raises EmbedderError.
        """
        ...

    @property
    def token_width(self) -> int:
        """Length of the state of a token; 0 for a model without token states."""
        ...

    def embed_tokens(self, texts: Sequence[TextInContext]) -> list[TokenStates]:
        """The states of each text, read in its context, in the order of `texts`.

        `pooled` is the vector that `embed` gives for the whole, where that is not too long for the
        model. Of a longer one the beginning of the context is cut. A text that is too long alone is
        read in windows, each in the context of what stands before it; `pooled` is the mean of their
        vectors by tokens. At least the last two tokens of the whole have states, however short the
        text. Raises EmbedderError, and ValueError for a model without token states.
        """
        ...
