"""Which words are in every other line, so that they are no concept of it? English, Chinese, Japanese."""

from __future__ import annotations

_ENGLISH = """
a an the and or but if then so of to in on at by for with from as than into onto upon over under about just
too very also i me my mine myself we us our ours ourselves you your yours yourself he him his himself she
her hers herself it its itself they them their theirs themselves this that these those there here is are was
were be been being am do does did done doing have has had having can could will would shall should may might
must cannot no nor not none what which who whom whose when where why how whatever whenever wherever whoever
however up out off down again ca wo don ain get got gotten go went gone going come came make made take took
taken give gave given say said says tell told know knew known think thought see saw seen look want let put
keep kept find found try ask seem mean meant feel felt need use like one two three four five six seven eight
nine ten first second third last next other another some any many much more most few fewer less least all
every each both either neither same own such else only even still ever never always often sometimes usually
already yet now back away around along across through between among before after while because though
although since until unless without within during against toward towards behind beside besides beyond near
above below inside outside thing things something anything nothing everything somebody someone anybody
anyone nobody everybody everyone somewhere anywhere nowhere everywhere way lot lots kind sort bit well right
really quite rather maybe perhaps probably certainly surely simply almost nearly good bad new old little big
great nice fine sure okay ok yes yeah yep nope oh ah eh uh um hmm hm mm mhm huh hey hi hello haha hahaha heh
hehe ha wow ugh oops please thank thanks sorry today tonight tomorrow yesterday ago soon later early late
once twice day days time times moment minute today's able begin began begun start started stop stopped
become became happen happened seemed leave left turn turned call called show showed shown bring brought hold
held set stand stood sit sat move moved walk walked talk talked speak spoke spoken asked answer answered
reply replied nod nodded shake shook smile smiled sigh sighed glance glanced whisper whispered mutter
muttered murmur murmured laugh laughed giggle giggled grin grinned shrug shrugged blink blinked lean leaned
reach reached pull pulled push pushed close closed open opened step stepped stay stayed wait waited watch
watched hear heard listen listened believe hope wish guess suppose gonna wanna gotta kinda sorta dunno lemme
cuz cause etc em im ive dont didnt cant wont slightly softly quietly slowly quickly suddenly gently finally
actually especially exactly completely totally truly literally obviously honestly seriously apparently
definitely absolutely basically different several enough whole full hard easy long short high low far true
real ready people person man woman guy guys place part side hand hands head face eye eyes voice
"""
_CHINESE = """
我们 你们 他们 她们 它们 咱们 自己 大家 人家 别人 什么 怎么 怎样 为什么 为何 哪里 哪儿 哪个 这里 那里 这儿
那儿 这个 那个 这些 那些 这样 那样 这么 那么 如此 一个 一些 一点 一下 一样 一起 一直 一定 一切 一次 一种
没有 不是 不会 不要 不能 不用 不过 不同 不好 不行 还是 还有 只是 只有 就是 就算 但是 可是 然而 而且 并且
或者 或是 因为 所以 因此 如果 假如 要是 虽然 尽管 即使 然后 于是 接着 已经 曾经 正在 刚刚 刚才 马上 立刻
忽然 突然 终于 总是 经常 常常 有时 有时候 偶尔 永远 从来 再也 仍然 依然 非常 特别 十分 有点 比较 真的 真是
其实 当然 可能 也许 大概 或许 应该 必须 需要 可以 能够 愿意 想要 希望 觉得 认为 以为 感觉 感到 知道 明白
发现 看到 看见 听到 听见 想到 想起 记得 告诉 回答 开始 继续 起来 出来 出去 进来 进去 过来 过去 回来 回去
上来 下来 下去 上去 时候 时间 现在 今天 昨天 明天 今晚 昨晚 以前 以后 之前 之后 后来 当时 最近 里面 外面
上面 下面 前面 后面 旁边 中间 东西 事情 问题 地方 样子 方面 关于 对于 由于 通过 根据 为了 除了 看着 说道
问道 笑着 笑道 说话 说着 轻轻 慢慢 渐渐 微微 静静 默默 哈哈 呵呵 嘿嘿 嘻嘻 好吧 好的 好像 似乎 是吗 是的
对不起 谢谢 没事 没关系 请问 你好 而已 罢了 这次 那次 每次 每天 有些 有人 多少 几个 那种 这种 任何 所有 我会
你会 他会 她会 不知道 怎么样 怎么办 点头 摇头 抬头 低头 转身 点点头 摇摇头 成为 作为 变成 进行 一般 一旦
之一 别问 我要 我想 你看 她是 他是 也是 都是 才能 只能 不再 直到 甚至 居然 竟然 果然 究竟 到底 反正 毕竟
简直 实在 确实 的话 的确 一边 一声 几乎 快要 别怕 去年 今年 明年 每年 当年 早上 晚上 下午 上午 中午 小时候
全都 全部 喜欢 远处 眼睛 声音 身边 身上 手里 心里 那天 这天 有天 那时 这时 那时候 这时候
"""
_JAPANESE = """
こと もの ところ とき ため よう そう はず わけ つもり 私 僕 俺 君 彼 彼女 彼ら あなた お前 自分 誰 何 どこ
いつ なぜ どう これ それ あれ どれ ここ そこ あそこ この その あの どの する なる ある いる できる 出来る
言う いう 思う 行く 来る くる 見る みる やる くれる あげる もらう いく おく しまう 分かる わかる 知る 今日
昨日 明日 今 前 後 時 人 方 中 上 下 今度 最近 本当 大丈夫 ちょっと とても すごい いい 良い よい ない 無い
欲しい 同じ 一緒 少し 多い たくさん みんな 皆 まだ もう また ずっと きっと やっぱり 多分 全部 聞く 話す 入る
出る 持つ 使う 笑う 待つ 始める 続ける 貰う 下さる 致す 居る 有る 為る 成る 事 物 所 訳 内 間 気
"""
_SIGNS = (
    "的了是我你您他她它们在有不这那就也都和着吗呢吧啊个一上下来去说要会到很还没么把被给让从向对跟与及"
    "或但而且因为所以若则只才又再更最太好大小多少里外中前后时候过得地之其此每各某两二三四五六七八九十"
    "百千万几些点次年日岁想看听问叫走跑坐站拿放做能可用请别哪谁什怎样真难已正将曾于至自由使令比像"
    "如哦嗯呀嘛啦哇哎唉喂咦哼哈嘿呵笑哭吃喝睡买卖送找等住回进出起开关打拉推带见知道觉爱恨怕個們這來從"
    "為說沒還過時後裡麼會讓給對與問聽買賣進開關愛點歲"
)

ENGLISH = frozenset(_ENGLISH.split())
CHINESE = frozenset(_CHINESE.split())
JAPANESE = frozenset(_JAPANESE.split())
# Signs that stand alone as words of grammar: a run of unknown signs ends at them.
CHINESE_SIGNS = frozenset(_SIGNS)
