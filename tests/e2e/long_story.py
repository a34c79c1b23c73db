"""A chat of thousands of messages, hardly two of them alike: days with a few people, in one mood after another."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from .small_talk import small_talk
from .stories import Exchange

_SEED = 11
_FELT = 3  # one exchange of so many tells a feeling
_TRUE = 0.7  # share of feelings that are of the mood that reigns; the others are of any


@dataclass(frozen=True, slots=True)
class Words:
    """What days are told of in a language. Each template joins words of the lists in its braces."""

    mine: str
    hers: str
    people: tuple[tuple[str, str], ...]  # names, and what the lore says of each
    when: tuple[str, ...]
    did: tuple[str, ...]
    where: tuple[str, ...]
    gestures: tuple[str, ...]
    answers: tuple[str, ...]
    moods: tuple[tuple[str, ...], ...]  # what is felt in each part of the story


ENGLISH = Words(
    mine="{when} {who} {did} {where}.",
    hers="*{gesture}* {answer} {felt}",
    people=(
        ("Odile", "Odile rows the ferry across the Wend."),
        ("Bram", "Bram is the miller, and owes everybody flour."),
        ("Tamsin", "Tamsin keeps the bees of the abbey."),
        ("Jorick", "Jorick tunes the bells and is half deaf."),
        ("Wilhelmina", "Wilhelmina teaches the children to count."),
        ("Sebald", "Sebald paints signs for the whole valley."),
    ),
    when=(
        *("This morning", "Before noon", "At dusk", "After supper", "In the rain"),
        *("When the bell rang", "Long after midnight", "At first light"),
    ),
    did=(
        *("brought us a crate of pears", "asked for the long ladder"),
        *("mended the garden gate", "lost a silver button", "read a letter aloud"),
        *("sold the grey mare", "counted the candles twice", "found a torn map"),
        *("sang the old ferry song", "burned the bread", "planted a row of beans"),
        *("hid a box under the stairs", "borrowed my lantern"),
    ),
    where=(
        *("at the ferry", "behind the mill", "in the abbey garden", "by the east well"),
        *("on the bell tower", "at the school gate", "under the bridge", "at the inn"),
    ),
    gestures=(
        *(
            "She puts down the lamp.",
            "She looks up from her book.",
            "She leans closer.",
        ),
        *(
            "She shakes out her scarf.",
            "She pours the tea.",
            "She counts on her fingers.",
        ),
    ),
    answers=(
        *("{who} again!", "And nobody stopped {who}?", "So that was {who}."),
        *("I had heard it was {other}.", "{other} tells it differently of {who}."),
        *("We should write that down.", "I will ask about it tomorrow."),
    ),
    moods=(
        ("I am so happy about it.", "I laughed all the way home.", "It made me glad."),
        ("I was afraid all night.", "It scared me.", "I am still trembling."),
        ("I cried when I heard.", "It makes me sad.", "I felt so lonely."),
        (
            "I love this place.",
            "I adore you for telling me.",
            "I am happy, and I love you.",
        ),
    ),
)
CHINESE = Words(
    mine="{when}，{who}{where}{did}。",
    hers="*{gesture}*{answer}{felt}",
    people=(
        ("沈砚", "沈砚在渡口摆渡。"),
        ("贺兰舟", "贺兰舟开磨坊，欠着全镇的面粉。"),
        ("叶青禾", "叶青禾替寺里养蜂。"),
        ("钟伯", "钟伯管钟楼，耳朵半聋。"),
        ("梁小满", "梁小满教孩子们算数。"),
        ("顾长风", "顾长风给整条街画招牌。"),
    ),
    when=("今天早上", "晌午之前", "黄昏时分", "吃过晚饭", "下雨的时候", "钟响的时候", "后半夜", "天刚亮"),
    did=(
        *("送来一筐梨", "来借长梯子", "把园门修好了", "丢了一颗银扣子", "当众念了一封信"),
        *("卖掉了那匹灰马", "把蜡烛数了两遍", "捡到半张地图", "唱起了老船歌", "把饼烤糊了"),
        *("种下一排豆子", "往楼梯底下藏了只匣子", "借走了我的灯笼"),
    ),
    where=("在渡口", "在磨坊后面", "在寺院菜园里", "在东井边", "在钟楼上", "在学堂门口", "在桥洞下", "在客栈里"),
    gestures=(
        *("她放下灯。", "她从书里抬起头。", "她凑近了些。"),
        *("她抖了抖围巾。", "她倒上茶。", "她掰着手指头数。"),
    ),
    answers=(
        *("又是{who}！", "就没人拦着{who}吗？", "原来是{who}。", "我听说的可是{other}。"),
        *("{other}跟我说的{who}不是这样。", "这事该记下来。", "我明天去问问。"),
    ),
    moods=(
        ("我高兴坏了。", "我一路笑着回来，真开心。", "听了真叫人高兴。"),
        ("我害怕了一整夜。", "我到现在还在发抖。", "想起来就害怕。"),
        ("我听了就哭了。", "真叫人难过。", "我觉得好孤独，好伤心。"),
        ("我好喜爱这个地方。", "你肯告诉我，我真高兴。", "我深爱着这里的一切，很开心。"),
    ),
)  # fmt: skip
BY_LANGUAGE = {"en": ENGLISH, "zh": CHINESE}


def long_story(language: str, count: int) -> list[Exchange]:
    """`count` exchanges: a scene of the bundled chat first, then days with the people of `BY_LANGUAGE`."""
    words = BY_LANGUAGE[language]
    opening = small_talk(language, 30)
    random = Random(_SEED)
    days = count - len(opening)
    told = [
        _day(words, random, number, len(words.moods) * number // days) for number in range(days)
    ]
    return [*opening, *told]


def _day(words: Words, random: Random, number: int, mood: int) -> Exchange:
    who, other = (name for name, _ in random.sample(words.people, 2))
    mine = words.mine.format(
        when=random.choice(words.when),
        who=who,
        did=random.choice(words.did),
        where=random.choice(words.where),
    )
    moods = words.moods[mood] if random.random() < _TRUE else random.choice(words.moods)
    felt = random.choice(moods) if number % _FELT == 0 else ""
    answer = random.choice(words.answers).format(who=who, other=other)
    gesture = random.choice(words.gestures)
    hers = words.hers.format(gesture=gesture, answer=answer, felt=felt)
    return mine, hers.strip()
