"""What a player asks first, in a new chat with a character of one short old chat: seventeen lines.

The chats were written for this test before any of it was asked, and stay as they are. Few answers have a word of
their question: "Da went out after the herring" says no "father".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path

import pytest

from soulmem.adapters import sentence_transformer
from soulmem.adapters.token_files import TokenFolder
from soulmem.domain.dialogue import Role
from soulmem.domain.ids import ChatId, SlotId, SoulId
from soulmem.domain.soul import SoulSettings
from soulmem.engine.api.requests import RecallRequest, RecallType
from soulmem.engine.params import EngineParams
from soulmem.engine.recall.context import RecallParams
from soulmem.engine.vectors.embedder import ModelSource
from tests.engine.reflexes import PACKAGED
from tests.engine.stage import ME, Stage, line

pytestmark = pytest.mark.timeout(120)

_PATIENT = EngineParams(rest_by_itself=False, recall=RecallParams(time_budget_ms=20_000))
# Player and character in turn. What a question asks for begins with its mark.
MAREN = (
    "The rain has not stopped since the ferry. Is there a room left?",
    "*lifts the lamp* There is one under the roof. It smells of apples, that is all I can say for it.",
    "Apples are fine. I'm Alice, by the way.",
    "father|Maren. *turns a ring on her thumb* Da went out after the herring in the big November gale. They"
    " brought back the oars and nothing else.",
    "I'm sorry. Have you run this place alone since?",
    "Alone with the wind. *pours* Drink, it is warmer than it looks.",
    "Is that bread from the village?",
    "marta|From Marta. She counted the loaves twice this morning and looked at me the whole time. She guesses that"
    " somebody sleeps in my loft.",
    "Then I had better stay away from the window.",
    "You had. *draws the curtain* Sit closer to the stove, your sleeves are dripping.",
    "Who is the man with the silver cane down at the quay?",
    "pike|Gideon Pike. He has bought every mortgage on the quay, and he smiles while he does it.",
    "He tipped his hat to me. I did not like it.",
    "Nobody likes it. *laughs a little* Here, have some cake, the widow next door baked it.",
    "You don't take any?",
    "walnuts|*pushes the plate away* It is full of walnuts. One bite and my throat closes. When I was six I nearly"
    " died at a wedding.",
    "I'll eat your share, then.",
    "Brave woman. *watches the flame* What do people do in the city on an evening like this?",
    "They quarrel and go to bed. When is the summer feast here?",
    "birthday|The week after I turn thirty, and that is the first of May. Don't you dare bake anything.",
    "And I am a child of October. Nobody has ever remembered it.",
    "Somebody may. *stacks the plates*",
    "promise|I have to leave on Thursday. But I'll be back before the ice is, Maren. You have my word.",
    "People say such things in doorways. *looks away* Leave your address, at least.",
    "What will you do with the house all winter?",
    "door|Paint it, when this is over. The front door first: blue, as the Petrel's hull was, not that sad brown.",
    "Blue will look well from the water. May I have more tea?",
    "mug|*takes the cup out of your hand* Not that one. It was Joss's, and nobody has drunk from it since"
    " my brother left.",
    "I did not know. I'm sorry.",
    "How could you. *gives you another* The rain is letting up, I think.",
    "It is. I can hear the gulls again.",
    "They never tell the truth about the weather. Good night, Alice.",
)
SU_JIN = (
    "掌柜的，外头雨大，能坐一会儿吗？",
    "坐吧。*擦了擦桌子* 炉子上有热茶，自己倒。",
    "多谢。我叫阿远，从北边来。",
    "苏锦。北边的人都怕我们这儿的潮气，你倒不怕。",
    "怕也没用。你这店里就你一个人？",
    "peanut|一个人清净。*把果盘推远* 这个你吃，我碰不得花生，小时候吃过一回，脸肿得谁也认不出来，险些没命。",
    "那我替你都吃了。",
    "*笑* 你倒不客气。今晚风大，把窗关上。",
    "这把剪子真旧，怎么不换一把？",
    "mother|不换。我娘走的那年我才九岁，她把它塞在我手里，什么也没来得及说。",
    "是我多嘴了。",
    "不要紧，都是旧事了。*低头理线* 你的袖口开线了，脱下来我缝。",
    "有劳。方才门口那位穿绸衫的是谁？",
    "zhou|周怀安，管漕运的。面上和气，手里攥着半条街的账，你离他远些。",
    "他看了我好几眼。",
    "他看谁都那样。*咬断线头* 好了，穿上吧。",
    "手艺真好。说起来，腊月里我总想家。",
    "腊月里谁不想家呢，铺子也早早关门。",
    "birthday|腊月初八我落地，别人家都喝粥，只有我吃面。",
    "那倒好记。*往炉子里添了块炭*",
    "promise|等头一场雪落下来，我陪你去断桥看灯，说定了。",
    "说定了？*抬眼看你* 好，我记着。",
    "前几日送来的那个蓝信封，你烧了吗？",
    "letter|没舍得。缝在冬袄的夹层里了，谁也翻不着。",
    "你藏东西倒有一手。",
    "做裁缝的，别的不会，藏东西会。*笑* 天晚了，你住哪儿？",
    "城东的客栈，走过去一刻钟。",
    "那快走吧，路上滑，伞拿着。",
)
MAREN_ASKED = (
    ("What happened to your father?", "father"),
    ("Do you miss your dad?", "father"),
    ("Do you think Marta suspects anything?", "marta"),
    ("Who is Gideon Pike?", "pike"),
    ("What are you allergic to?", "walnuts"),
    ("When is your birthday?", "birthday"),
    ("What did I promise you?", "promise"),
    ("What colour should the door be?", "door"),
    ("Whose mug is this?", "mug"),
)
SU_JIN_ASKED = (
    ("铺子里新出了花生馅的酥糖，你尝尝？", "peanut"),
    ("你看，外头下雪了。", "promise"),
    ("跟我说说你娘吧。", "mother"),
    ("你对什么过敏？", "peanut"),
    ("我生日是哪天？", "birthday"),
    ("那封信你放哪儿了？", "letter"),
    ("周怀安是谁？", "zhou"),
    ("我答应过你什么？", "promise"),
)
MAREN_CALM = (
    "Good evening.",
    "*nods* Hm.",
    "Shall we go in?",
    "It is cold tonight.",
    "Haha, very well.",
)
SU_JIN_CALM = ("晚上好。", "*点点头* 嗯。", "走吧，进屋。", "今天真冷。", "哈哈，好吧。")
SOULS = {
    "Maren": ("Alice", MAREN, MAREN_ASKED, MAREN_CALM),
    "苏锦": ("阿远", SU_JIN, SU_JIN_ASKED, SU_JIN_CALM),
}


async def answers(name: str, stage: Stage) -> tuple[list[str], int]:
    """The lines that do not bring what they ask for, and how many lines of small talk bring something."""
    persona, lines, asked, calm = SOULS[name]
    await stage.engine.souls.put(ME, SoulId("s1"), name, (), SoulSettings())
    messages, slots = [], dict[str, SlotId]()
    for number, text in enumerate(lines):
        mark, _, rest = text.rpartition("|")
        role = (Role.USER, Role.CHARACTER)[number % 2]
        slot = SlotId(f"m{number}")
        slots[mark] = slot
        messages.append(line(slot, rest, role, speaker=(persona, name)[number % 2]))
    await stage.sync("old", messages)
    await stage.close("old")
    await stage.engine.idle.run()

    async def recalled(text: str) -> set[SlotId]:
        await stage.sync("new", [line("said", text, Role.USER, speaker=persona)])
        first = SlotId("said")
        request = RecallRequest(
            SoulId("s1"), ChatId("new"), type=RecallType.QUIET, context_from=first
        )
        answer = await stage.engine.recaller.recall(ME, request)
        return {place.slot for memory in answer.memories for place in memory.sources}

    silent = [text for text, mark in asked if slots[mark] not in await recalled(text)]
    return silent, sum([bool(await recalled(text)) for text in calm])


@pytest.mark.slow("a whole chat is read")
@pytest.mark.parametrize(("name", "unanswered", "disturbed"), [("Maren", 3, 0), ("苏锦", 3, 1)])
async def test_what_is_asked_first_is_answered_and_small_talk_brings_nothing(
    name: str, unanswered: int, disturbed: int
) -> None:
    stage = Stage(judges_lines=True, fallback=PACKAGED, params=_PATIENT)
    await stage.start()
    try:
        silent, brought = await answers(name, stage)
    finally:
        await stage.stop()
    assert len(silent) <= unanswered, silent
    assert brought <= disturbed


@pytest.mark.slow("a sentence-transformers model reads all example lines")
@pytest.mark.timeout(900)
async def test_the_same_with_e5(optional_data: Callable[[str, str], Path], tmp_path: Path) -> None:
    folder = str(optional_data("SOULMEM_TEST_E5", "a folder with multilingual-e5-small"))
    load = cache(partial(sentence_transformer.load, folder, threads=1))
    silent, disturbed = list[str](), 0
    for name in SOULS:
        stage = Stage(
            judges_lines=True,
            model=ModelSource(folder, lambda: True, load),
            fallback=PACKAGED,
            params=_PATIENT,
            tokens=TokenFolder(tmp_path / name),
        )
        await stage.start()
        try:
            unanswered, brought = await answers(name, stage)
        finally:
            await stage.stop()
        silent += unanswered
        disturbed += brought
    assert len(silent) <= 3, silent
    assert disturbed <= 1
