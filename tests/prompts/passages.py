"""Two chats, English and Chinese, as passages."""

from __future__ import annotations

from collections.abc import Sequence

from soulmem.domain.drafts import Passage, PassageLine


def passage(
    rows: Sequence[tuple[str, str]],
    *,
    soul: str = "Lena",
    users: tuple[str, ...] = ("Nora",),
    language: str = "en",
    summary: str = "",
    known_names: tuple[str, ...] = (),
    names: tuple[str, ...] = (),
) -> Passage:
    """A passage of these (speaker, text), numbered from 1."""
    lines = tuple(
        PassageLine(number, speaker, text) for number, (speaker, text) in enumerate(rows, 1)
    )
    return Passage(language, soul, users, lines, summary, known_names, names)


EN = passage(
    [
        ("Nora", "Hester buried the locket in the bakery, do not forget it."),
        ("Lena", "*nods* I will. The bakery smells of apples."),
        ("Nora", "Where do we sleep tonight?"),
        ("Lena", "At the old mill by the river. I promised Anton I'd feed his cat."),
        ("Nora", "You are very kind, Lena."),
        ("Lena", "*looks away and blushes* Don't say that, it is nothing."),
        ("Nora", "Your soup was wonderful!"),
        ("Lena", "*looks away* It was only leftovers."),
        ("Nora", "Anton told me he is your brother."),
        ("Lena", "Yes, my older brother. He hates thunder."),
        ("Nora", "You sang beautifully."),
        ("Lena", "*looks away, tugging her sleeve* I was off key."),
    ],
    names=("Hester", "Anton"),
)
ZH = passage(
    [
        ("阿明", "外婆把怀表藏在了阁楼的箱子里，别忘了。"),
        ("林月", "好，我记住了。阁楼上全是灰尘味。"),
        ("阿明", "今晚我们去哪里？"),
        ("林月", "去河边的老磨坊。我答应过小雨要教她骑马。"),
        ("阿明", "你今天真好看。"),
        ("林月", "*脸红，转过头* 才、才没有。"),
        ("阿明", "你做的饭太好吃了！"),
        ("林月", "*转过头* 只是随便做的。"),
        ("阿明", "小雨是你妹妹吗？"),
        ("林月", "是我表妹，她怕打雷。"),
    ],
    soul="林月",
    users=("阿明",),
    language="zh",
    names=("外婆", "小雨"),
)
