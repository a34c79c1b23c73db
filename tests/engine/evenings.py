"""A chat of 60 messages in ten scenes, English and Chinese, for models that read it."""

from __future__ import annotations

from soulmem.domain.dialogue import Role, SentMessage
from tests.engine.stage import line

NAMES = {"en": ("Al", "Mira"), "zh": ("阿明", "米拉")}
SCENES = {
    "en": (
        *(
            "Oswin hung the lantern in the attic.",
            "Then I will fetch the lantern tomorrow.",
        ),
        *("You danced so well, Mira.", "*looks away* It was nothing."),
        *("Shall we walk to the harbour?", "Yes. I like the harbour in the evening."),
        *(
            "Petra sold her boat to the miller.",
            "*sits down on the crate* She loved that boat.",
        ),
        *(
            "She needs the money for her daughter.",
            "I will bring Petra a basket of eggs.",
        ),
        *("You are too kind.", "*looks away* Anybody would do it."),
        *(
            "What do you keep in that box?",
            "The letters of my brother Quentin. He sails to Norholm.",
        ),
        *("When will he come back?", "*opens the box* Quentin promised me a parrot."),
        *("I never saw a parrot.", "They steal figs, my brother says."),
        *("It rains again. My coat is wet.", "Hang your coat over the stove."),
        *("Rosalind broke the mill's window.", "*laughs* She throws stones at crows."),
        *("The miller wants two coins for it.", "I will pay the miller on Sunday."),
        *("Your soup is wonderful, Mira.", "*looks away* It is only leeks."),
        *("My mother hated leeks.", "My mother taught me this soup."),
        *("Where does she live?", "She lives in the village behind the hill."),
        *("I heard a wolf last night.", "*shivers* I am afraid of wolves."),
        *(
            "Sorrel set a trap near the well.",
            "I don't trust Sorrel. He lies about everything.",
        ),
        *("He found your ring, though.", "*touches the ring* He found it in the barn."),
        *("Tamsin plays the fiddle on Friday.", "Then I will wear the green dress."),
        *("You look lovely in green.", "*looks away* Stop that."),
        *("I cannot dance, you know.", "I will teach you."),
        *("The bridge fell into the river.", "*stands up* Was anybody hurt?"),
        *("Ulric broke his leg.", "I will carry bread to Ulric's house."),
        *("I can bring him firewood.", "His cat sleeps in our barn anyway."),
        *(
            "I bought you this comb in Norholm.",
            "*turns the comb* Nobody ever gave me a comb.",
        ),
        *("It is made of silver.", "I will keep it for ever."),
        *("You deserve it.", "*looks away* Thank you, Al."),
        *("The harbour is quiet today.", "The boats wait for the tide."),
        *("Verity painted the lighthouse.", "She used red paint. I like red."),
        *("Let us go home.", "*takes his hand* Yes, let us go."),
    ),
    "zh": (
        *("沈砚把灯笼挂在了阁楼上。", "那我明天去取灯笼。"),
        *("你跳得真好，米拉。", "*转过头* 没什么。"),
        *("我们去港口走走吧？", "好，我喜欢傍晚的港口。"),
        *("苏晴把小船卖给了磨坊主。", "*坐在木箱上* 她很爱那条船。"),
        *("她要用钱给女儿治病。", "我会给苏晴送一篮鸡蛋。"),
        *("你太善良了。", "*转过头* 谁都会这么做的。"),
        *("那个盒子里放着什么？", "是我哥哥周岚的信。他在北海开船。"),
        *("他什么时候回来？", "*打开盒子* 周岚答应送我一只鹦鹉。"),
        *("我从来没见过鹦鹉。", "哥哥说鹦鹉会偷无花果。"),
        *("又下雨了，我的外套湿了。", "把外套挂在炉子上吧。"),
        *("顾南打破了磨坊的窗户。", "*笑了* 她总是朝乌鸦扔石头。"),
        *("磨坊主要她赔两个铜币。", "我星期天会去付铜币。"),
        *("你的汤真好喝，米拉。", "*转过头* 只是些韭葱。"),
        *("我母亲讨厌韭葱。", "我母亲教我做了这道汤。"),
        *("她住在哪里？", "她住在山后的村子里。"),
        *("昨晚我听见了狼叫。", "*发抖* 我怕狼。"),
        *("陆川在水井旁边放了陷阱。", "我不相信陆川，他什么都骗人。"),
        *("不过他找到了你的戒指。", "*摸着戒指* 他在谷仓里找到了戒指。"),
        *("江离星期五要拉小提琴。", "那我要穿绿裙子。"),
        *("你穿绿色真好看。", "*转过头* 别说了。"),
        *("我不会跳舞，你知道的。", "我来教你。"),
        *("石桥塌进了河里。", "*站起来* 有人受伤吗？"),
        *("温言摔断了腿。", "我会给温言送面包。"),
        *("我可以给他送柴火。", "他的猫本来就睡在我们的谷仓里。"),
        *("我在北海给你买了这把梳子。", "*转动梳子* 从来没有人送过我梳子。"),
        *("这是银做的。", "我会一直留着梳子。"),
        *("这是你应得的。", "*转过头* 谢谢你，阿明。"),
        *("今天的港口很安静。", "船都在等潮水。"),
        *("秦朔给灯塔刷了油漆。", "他用了红色的油漆，我喜欢红色。"),
        *("我们回家吧。", "*牵起他的手* 好，回家。"),
    ),
}


def talk(language: str) -> list[SentMessage]:
    """The chat: user and character in turn, messages m1 to m60."""
    return [
        line(
            f"m{at}",
            text,
            (Role.CHARACTER, Role.USER)[at % 2],
            speaker=NAMES[language][(at + 1) % 2],
        )
        for at, text in enumerate(SCENES[language], 1)
    ]
