"""Which feelings does a text put into plain words, English or Chinese, and does it not deny them?"""

from __future__ import annotations

import re
from collections import Counter

from soulmem.language.markup import plain

_WORDS = """
joy: happy happily happiest happiness joy joyful joyous glad gladly delighted cheerful cheerfully
overjoyed thrilled elated beams beamed giggles giggled laughs laughed laughing 开心 高兴 快乐 幸福 喜悦
欣喜 愉快 欢喜 兴奋 大笑 笑得 嬉しい 楽しい 幸せ
sadness: sad sadly sadness sorrow sorrowful grief grieve grieves grieved grieving heartbroken miserable
lonely mourn mourns mourned mourning weep weeps wept weeping sob sobs sobbed sobbing cry cries cried
crying tears 伤心 难过 悲伤 悲痛 哀伤 忧伤 心碎 哭 眼泪 泪水 流泪 落泪 孤独 悲しい 泣
anger: angry angrily anger furious furiously fury rage raged enraged irate livid outraged hate hates hated
hatred 生气 愤怒 恼怒 气愤 暴怒 怒火 发火 怒吼 恨 憎恨 怒っ
fear: afraid fear fears feared fearful scared terrified terror frightened dread dreads dreaded panic
panicked trembles trembled trembling 害怕 恐惧 惊恐 恐慌 发抖 颤抖 胆怯 吓坏 怕 怖い 恐ろし
disgust: disgusted disgusting disgust revolted revolting revulsion nauseated loathe loathes loathed 恶心
厌恶 反感 作呕 嫌弃 気持ち悪い
surprise: surprised surprise astonished astonishment amazed amazement shocked startled stunned gasps
gasped 惊讶 吃惊 惊奇 诧异 震惊 惊喜 愣住 大吃一惊 驚
love: love loves loved loving adore adores adored cherish cherishes cherished beloved kiss kisses kissed
爱 深爱 爱上 喜爱 心爱 亲吻 吻 拥抱 愛し
"""
# What takes a feeling back, shortly before its word.
_DENIED = re.compile(
    r"(?:\b(?:not|never|no|without|nothing|neither|nor|hardly|barely|don'?t|doesn'?t|didn'?t|isn'?t|aren'?t|wasn'?t"
    r"|weren'?t|won'?t|wouldn'?t|can'?t|cannot|couldn'?t|stop|stopped)\s+(?:\w+\s+){0,2}"
    r"|[不没没别莫勿無未休](?:要|有|会|再|是|用|太|那么|曾|想)?)$"
)
# Words with one of these signs in them that are about something else.
_OTHERWISE = re.compile(
    r"可爱|爱好|恋爱脑|恐怕|哪怕|仇恨值|爱丽丝|爱德华|惊人|热爱生活|哭笑不得|love letter|crying out loud"
)
_FIRST, _MORE, _MOST = 0.35, 0.1, 0.65  # intensity: a word alone is modest evidence


def _pattern() -> tuple[re.Pattern[str], dict[str, str]]:
    feelings: dict[str, str] = {}
    feeling = ""
    for word in _WORDS.split():
        if word.endswith(":"):
            feeling = word[:-1]
        else:
            feelings[word] = feeling
    longest = sorted(feelings, key=len, reverse=True)
    spaced = "|".join(word for word in longest if word.isascii())
    unspaced = "|".join(word for word in longest if not word.isascii())
    return re.compile(rf"\b(?:{spaced})\b|{unspaced}", re.IGNORECASE), feelings


_ANY, _FEELING = _pattern()


def feelings(text: str) -> tuple[tuple[str, float], ...]:
    """Feelings with their intensity, 0..1, in order of appearance."""
    said = _OTHERWISE.sub(" ", plain(text).replace("\u2019", "'"))
    found: Counter[str] = Counter()
    for match in _ANY.finditer(said):
        if not _DENIED.search(said[max(0, match.start() - 30) : match.start()].lower()):
            found[_FEELING[match.group().lower()]] += 1
    return tuple(
        (one, round(min(_FIRST + _MORE * (n - 1), _MOST), 2))
        for one, n in found.items()
    )
