"""The inner thought that a reply writes down."""

from __future__ import annotations

import pytest

from soulmem.engine.recall.habits import inner_thought


@pytest.mark.parametrize(
    ("reply", "thought"),
    [
        (
            "*She smiles.* “Of course.”\n*Thoughts: I will not tell him.*",
            "I will not tell him.",
        ),
        ("“Fine.”\n**Inner monologue:** Run, before he asks.", "Run, before he asks."),
        ("<thought>Hide the key.</thought>\n“Nothing.”", "Hide the key."),
        ("“Sure.” (Thinking: he knows)", "he knows"),
        ("「没什么。」\n（内心：绝不能告诉他。）", "绝不能告诉他。"),
        ("心想：快跑。\n她笑了。\n内心独白：还是留下吧", "还是留下吧"),
        ("She thought about it: nothing came.", None),
        ("“What are your thoughts?”", None),
        ("Mira: Good.", None),
        ("Thoughts: " + "long " * 200, None),
    ],
)
def test_the_last_inner_thought_is_read(reply: str, thought: str | None) -> None:
    assert inner_thought(reply) == thought
