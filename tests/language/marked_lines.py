"""Lines of role-play, marked by hand with what they tell of: what `terms` is measured by."""

from __future__ import annotations

# language, line, the concepts a reader would name, in their base form
MARKED: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "en",
        '*Mara slips the brass key under the doormat.* "Tell no one, Tobin."',
        ("brass key", "doormat", "tobin", "mara"),
    ),
    (
        "en",
        "My grandmother baked plum cake every winter, and the whole street smelled of cinnamon.",
        ("grandmother", "plum cake", "winter", "cinnamon", "street"),
    ),
    (
        "en",
        "We crossed the frozen river at night because the bridge had been burned by the rebels.",
        ("frozen river", "night", "bridge", "rebel"),
    ),
    (
        "en",
        '"You never told me your brother died in the mines," Ilse says quietly.',
        ("brother", "mine", "ilse", "die"),
    ),
    (
        "en",
        "The lighthouse keeper gave me a jar of fireflies.",
        ("lighthouse keeper", "jar", "firefly"),
    ),
    (
        "en",
        "I bought a violin in Vienna, though I cannot play a single note.",
        ("violin", "vienna", "note"),
    ),
    (
        "en",
        "(OOC: sorry, dinner) *The wolves howl again, and Bram tightens his grip on the lantern.*",
        ("wolf", "bram", "lantern", "grip", "howl"),
    ),
    (
        "en",
        "Captain Ferro hates cats; he says they bring storms.",
        ("captain ferro", "cat", "storm"),
    ),
    (
        "en",
        "Do you remember the orchard behind the chapel, where we buried the letters?",
        ("orchard", "chapel", "letter", "bury"),
    ),
    (
        "en",
        "Her left hand is made of silver, a gift from the Queen of Thorns.",
        ("silver", "gift", "queen of thorns"),
    ),
    (
        "en",
        "<b>Nadia</b> pours two cups of mint tea and opens [the old atlas](http://example.test/a).",
        ("nadia", "cup", "mint tea", "atlas"),
    ),
    (
        "en",
        "My fear of deep water started when the ferry sank.",
        ("fear", "deep water", "ferry", "sink"),
    ),
    ("zh", "她把旧怀表放进抽屉，再也没有打开过。", ("怀表", "抽屉")),
    (
        "zh",
        "*沈砚收起长剑，望向远处的雪山。*“师父就葬在那里。”",
        ("沈砚", "长剑", "雪山", "师父"),
    ),
    (
        "zh",
        "我小时候最喜欢外婆做的桂花糕，每年中秋都会吃。",
        ("外婆", "桂花糕", "中秋"),
    ),
    ("zh", "昨晚图书馆着火了，古籍全都烧光了。", ("图书馆", "着火", "古籍")),
    ("zh", "你答应过要带我去海边看日出的。", ("海边", "日出", "答应")),
    (
        "zh",
        "那只黑猫总是蹲在钟楼的窗台上，盯着路过的商人。",
        ("黑猫", "钟楼", "窗台", "商人"),
    ),
    (
        "zh",
        "他的妹妹在战争里失踪了，只留下一条红围巾。",
        ("妹妹", "战争", "失踪", "围巾"),
    ),
    (
        "zh",
        "顾长风害怕打雷，因为父亲是在暴雨夜离开的。",
        ("顾长风", "打雷", "父亲", "暴雨"),
    ),
    (
        "zh",
        "（（OOC：等一下））我们在码头的茶馆见面，记得带上地图。",
        ("码头", "茶馆", "地图", "见面"),
    ),
    (
        "zh",
        "公主从不相信占卜师的预言，直到月食那天。",
        ("公主", "占卜师", "预言", "月食"),
    ),
    ("ja", "彼は古いギターを質屋に売ってしまった。", ("ギター", "質屋")),
    (
        "ja",
        "母の誕生日にチョコレートケーキを焼いたけど、失敗した。",
        ("誕生日", "チョコレートケーキ", "失敗"),
    ),
    (
        "ja",
        "あの図書館の司書は、実は魔法使いだったんだ。",
        ("図書館", "司書", "魔法使い"),
    ),
    (
        "ja",
        "「約束だよ」とアカリは笑って、神社の階段を駆け下りた。",
        ("約束", "アカリ", "神社", "階段"),
    ),
    (
        "mixed",
        "林月把 silver locket 藏在图书馆的地窖里。",
        ("silver locket", "图书馆", "地窖"),
    ),
    (
        "mixed",
        "Kaito whispered 「約束は守る」 and handed me the compass.",
        ("kaito", "約束", "compass"),
    ),
    ("mixed", "她说 coffee 太苦，还是喜欢茉莉花茶。", ("coffee", "茉莉花茶")),
    (
        "mixed",
        "今天在 Kyoto 的神社 I met an old monk 他送我一把雨伞。",
        ("kyoto", "神社", "monk", "雨伞"),
    ),
    (
        "mixed",
        "*Lin Yue 轻轻关上门* The dragon is asleep, 别出声。",
        ("lin yue", "dragon", "asleep"),
    ),
    (
        "mixed",
        "妹妹养的兔子叫 Marshmallow，它只吃胡萝卜。",
        ("妹妹", "兔子", "marshmallow", "胡萝卜"),
    ),
)
