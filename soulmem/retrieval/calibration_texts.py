"""Neutral examples of situations and of lines of a scene, by language, for calibration."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Examples:
    """Situations as a player would name them, and lines of scenes; no line shows one of the situations."""

    situations: tuple[str, ...]
    lines: tuple[str, ...]


def _examples(situations: str, lines: str) -> Examples:
    return Examples(tuple(situations.strip().splitlines()), tuple(lines.strip().splitlines()))


# Everyday life, each about another topic, so that their mean represents the language and not a topic.
EXAMPLES = (
    _examples(
        """
a guest arrives without notice
someone offers to pay for her
the fire in the hearth goes out
being asked to sing in public
having to wait in a long queue
someone forgets her birthday
climbing a steep staircase
being thanked for help
breaking a glass by accident
losing the way in the forest
someone confesses his love
arguing about politics
being praised by her teacher
waking from a nightmare
missing the last train
an old friend returns
""",
        """
I think so too.
What do you want to eat tonight?
Good morning, did you sleep well?
Let's sit down for a while.
Can you hand me the cup?
That's interesting, tell me more.
It is a bit cold outside.
I have been busy with work lately.
She nods and looks out of the window.
Do you like tea or coffee?
I read a nice book about birds.
He opens the map and points at a village.
It's nearly noon.
I need to buy new shoes.
Sure, why not.
The table is made of oak.
I am going to the bathroom.
Surprise! I was in the neighbourhood and thought I would drop in.
The baker just opened his oven next door, mmm.
There are thirty people ahead of us at the counter.
The hound growls and bares its teeth behind the fence.
White flakes are drifting down outside the window.
Hey, Pumpkin! That's what everybody called you back then, wasn't it?
The little one in the crib giggles and reaches for your finger.
You can't seriously want to vote for that party of crooks!
There's a purse full of coins lying on the pavement.
His fingers brush a curl behind your ear.
That's your sixth beer, you're swaying.
Knight takes bishop, check.
You gave me your word that you'd come, and you did not.
""",
    ),
    _examples(
        """
有客人突然来访
别人要替她付钱
壁炉里的火灭了
被要求当众唱歌
要排很长的队
有人忘了她的生日
爬很陡的楼梯
别人感谢她的帮助
不小心打碎杯子
在森林里迷路
有人向她表白
争论政治
被老师表扬
从噩梦中醒来
错过末班车
老朋友回来了
""",
        """
我也这么觉得。
你今晚想吃什么？
早上好，睡得好吗？
我们坐一会儿吧。
能把杯子递给我吗？
真有意思，再跟我说说。
外面有点冷。
我最近工作很忙。
她点点头，望向窗外。
你喜欢茶还是咖啡？
我读了一本关于鸟的书。
他打开地图，指着一个村子。
快到中午了。
我得买双新鞋。
当然，为什么不呢。
这张桌子是橡木的。
我去一下洗手间。
惊喜吧！正好路过，就想进来坐坐。
隔壁的烤炉刚打开，嗯，真馋人。
前面还有三十个人等着呢。
篱笆后面的大家伙龇着牙低吼。
窗外飘起白色的小片片了。
喂，小胖墩！以前大家不都这么喊你吗？
摇篮里的小不点咯咯地伸手抓你的手指。
你不会真要投票给那帮骗子吧！
人行道上有个装满硬币的荷包。
他的手指把一缕卷发拨到你耳后。
这是第六杯啤酒了，你站都站不稳。
马吃象，将军。
你明明答应过会来，结果没来。
""",
    ),
)
