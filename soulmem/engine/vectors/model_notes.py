"""What the user is told of the embedding models; each function takes their names."""

from __future__ import annotations

from soulmem.domain.phrases import Phrase, phrase


def is_to_come(wanted: str, present: str) -> Phrase:
    """The wanted model is not there yet, and another answers."""
    return phrase(
        "embedder_to_come",
        "The embedding model {wanted} is not on this computer yet; {present}, which comes with"
        " SoulMem, answers until it is. Recall works, somewhat less precisely.",
        wanted=wanted,
        present=present,
    )


def waits(model: str) -> Phrase:
    """The wanted model has come and is used soon."""
    return phrase(
        "embedder_waits",
        "{model} is loaded and takes over at the next quiet moment.",
        model=model,
    )


def lacks_prompt(model: str) -> Phrase:
    """The model should be given a prompt, and has none."""
    return phrase(
        "embedder_no_prompt",
        "the embedding model {model} was trained with a prompt and is used without: set"
        " embedder.query_prompt",
        model=model,
    )
