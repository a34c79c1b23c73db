"""A chat in two languages at once: what is told in one is asked for in the other."""

from __future__ import annotations

from soulmem.domain.dialogue import Role, SentMessage
from soulmem.domain.soul import KnownName
from tests.engine.stage import line

NAMES = (
    KnownName("Lin Yue", ("林月",)),
    KnownName("Blackmere", ("黑沼",)),
    KnownName("Old Tan", ("老谭",)),
    KnownName("Captain Reyes", ("雷耶斯船长",)),
    KnownName("Silver Street", ("银街",)),
)

# What was told, and the question in the other language.
TOLD_IN_CHINESE = (
    ("林月小时候被狗咬过，到现在看见狗还是会躲。", "Why is Lin Yue afraid of dogs?"),
    ("我对花生过敏，吃一颗就要去医院。", "What food am I allergic to?"),
    ("老谭把地窖的钥匙藏在磨坊的石头下面。", "Where did Old Tan hide the cellar key?"),
    (
        "我们约好每年下第一场雪的时候在钟楼见面。",
        "When did we promise to meet at the clock tower?",
    ),
    ("我妹妹叫小鹿，去年嫁到了海边。", "What happened to my sister last year?"),
    ("黑沼的桥在春天的洪水里被冲走了。", "What happened to the bridge in Blackmere?"),
    ("雷耶斯船长只喝加了蜂蜜的红茶。", "What does Captain Reyes like to drink?"),
    ("我的剑是爷爷临终前交给我的。", "Who gave me my sword?"),
    ("银街的面包店老板欠我们三枚金币。", "Who owes us gold coins?"),
    ("我从来没学会游泳，掉进水里会很害怕。", "Can I swim?"),
    ("林月偷偷写诗，从来不给别人看。", "What does Lin Yue do in secret?"),
    ("昨晚我梦见了一座着火的图书馆。", "What did I dream about?"),
    ("我最喜欢的颜色是深绿色，像松林一样。", "What is my favourite colour?"),
    ("老谭的左腿是在战争里伤的。", "How did Old Tan hurt his leg?"),
    ("我们的猫叫煤球，因为它一身黑毛。", "What is our cat called?"),
)
TOLD_IN_ENGLISH = (
    (
        "Lin Yue plays the flute whenever she cannot sleep.",
        "林月睡不着的时候会做什么？",
    ),
    ("I lost my wedding ring in the harbour of Blackmere.", "我的结婚戒指丢在哪里了？"),
    (
        "Captain Reyes once sailed around the whole world.",
        "雷耶斯船长去过哪些地方航行？",
    ),
    ("My mother was a doctor and died during the plague.", "我妈妈是怎么死的？"),
    (
        "The baker of Silver Street puts cinnamon in everything.",
        "银街的面包师傅喜欢放什么香料？",
    ),
    ("I hate the smell of lilies, it reminds me of funerals.", "我讨厌什么花的味道？"),
    ("Old Tan has a tattoo of a snake on his arm.", "老谭的手臂上纹着什么？"),
    ("We buried the treasure under the oak behind the church.", "宝藏埋在什么地方？"),
    ("My brother joined the army when he was sixteen.", "我哥哥多大参军的？"),
    ("You promised to teach me how to dance before winter.", "你答应过要教我什么？"),
    ("The queen secretly pays for the orphanage.", "谁在暗中出钱养孤儿院？"),
    ("I can not eat spicy food, my stomach hurts at once.", "我能吃辣吗？"),
    ("Our horse is called Thunder and is afraid of rain.", "我们的马叫什么名字？"),
    (
        "I broke my arm falling from the roof when I was nine.",
        "我小时候是怎么摔断手臂的？",
    ),
    (
        "The lighthouse keeper gave us a map of the old mines.",
        "是谁给了我们矿洞的地图？",
    ),
)
FACTS = TOLD_IN_CHINESE + TOLD_IN_ENGLISH

_BETWEEN = (
    (
        "*She looks out of the window.* It has been raining all day.",
        "*她望向窗外。*雨下了一整天。",
    ),
    ("Shall we go on, or do you want to rest first?", "我们继续走，还是先休息一下？"),
    ("I bought bread, some cheese and two apples.", "我买了面包、奶酪和两个苹果。"),
    (
        "The road to the mountains is longer than I thought.",
        "去山里的路比我想的还要长。",
    ),
    ("*He laughs.* You always say that.", "*他笑了起来。*你总是这么说。"),
    ("Somebody is knocking at the door.", "有人在敲门。"),
    ("Tell me a story from when you were young.", "给我讲一个你年轻时候的故事吧。"),
    ("The market was full of people today.", "今天集市上人山人海。"),
    (
        "I do not know what to think of the new neighbours.",
        "我不知道该怎么看新来的邻居。",
    ),
    ("We should leave before sunrise.", "我们应该在日出之前出发。"),
    ("Old Tan asked about you again this morning.", "林月今天早上又问起你了。"),
    ("Captain Reyes will be back in a week.", "黑沼那边最近很不太平。"),
)


def chat() -> list[SentMessage]:
    """The facts of both languages in turn, with small talk of both before and after each."""
    texts: list[str] = []
    for n in range(len(FACTS)):
        half, side = divmod(n, 2)
        texts.append((TOLD_IN_ENGLISH if side else TOLD_IN_CHINESE)[half][0])
        texts += [_BETWEEN[(n + k) % len(_BETWEEN)][(n + k + k // 2) % 2] for k in range(3)]
    roles = (Role.USER, Role.CHARACTER)
    return [line(f"m{i}", text, roles[i % 2]) for i, text in enumerate(texts)]
