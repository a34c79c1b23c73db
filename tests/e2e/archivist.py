"""Answers of a model that does memory work well, made from the lines in its prompt."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from soulmem.prompts import checking, digest, extraction, kinds, rewording, summary
from soulmem.prompts.model_questions import QUESTIONS

if TYPE_CHECKING:
    from .mock_llm import Prompt

_CHAT = re.compile(r"<chat>\n(.*)\n</chat>", re.DOTALL)
_LINE = re.compile(r'^(?:\[(\d+)\] )?(.+?)(?:: "|：“|: )(.*?)["”]?$', re.MULTILINE)
_SUMMARY = re.compile(r"<summary>\n(.*)\n</summary>")
_STATEMENTS = re.compile(r"<statements>\n(.*)\n</statements>", re.DOTALL)
_STATEMENT = re.compile(r"^\[\d+\] (.*)$", re.MULTILINE)
_SENTENCE = re.compile(r"[^.!?。！？]+[.!?。！？]")
_GAP = re.compile(r"xxx(?:\([^()]*\))?")
_MEMORY = re.compile(r"<memory>(.*?)</memory>", re.DOTALL)
FILLED = "in an old tin box"  # what the gaps of a memory are filled with
_FORMS = {
    "en": ("{who} said: {text}", "said"),
    "zh": ("{who}说：{text}", "说"),
}


def is_work(prompt: Prompt) -> bool:
    """Whether it is memory work, not a reply to be played."""
    return _answering(str(prompt.messages[0]["content"])) is not None


def answer(prompt: Prompt) -> str:
    """What a good model answers to a prompt of memory work."""
    system, user = (str(message["content"]) for message in prompt.messages[:2])
    work = _answering(system)
    assert work is not None
    return json.dumps(work(user, "zh" if _HAN.match(system) else "en"))


def _answering(system: str) -> Callable[[str, str], dict[str, Any]] | None:
    """What answers prompts that begin so."""
    for openings, work in _WORK.items():
        if system.startswith(openings):
            return work
    return None


def _told(user: str, language: str) -> list[tuple[int, str]]:
    """Three lines of the prompt as sentences, each with its number."""
    lines = _lines(user)
    form, _ = _FORMS[language]
    picked = [lines[0], lines[len(lines) // 2], lines[-1]]
    return [(number, form.format(who=who, text=text)) for number, who, text in picked]


def _lines(user: str) -> list[tuple[int, str, str]]:
    chat = _CHAT.search(user)
    lines = _LINE.findall(chat[1]) if chat else []
    return [
        (int(shown or counted), who, _short(text))
        for counted, (shown, who, text) in enumerate(lines, 1)
    ]


def _summary(user: str, language: str) -> dict[str, Any]:
    """What was summed up before, and three lines more."""
    before = _SUMMARY.search(user)
    texts = [text for _, text in _told(user, language)]
    return {"summary": " ".join([*([before[1]] if before else []), *texts])}


def _digest(user: str, language: str) -> dict[str, Any]:
    """The second line: no summary tells it as well."""
    lines = _lines(user)
    _, who, text = lines[min(1, len(lines) - 1)]
    return {"digest": _FORMS[language][0].format(who=who, text=text)}


def _drafts(user: str, language: str) -> dict[str, Any]:
    """Three scenes, a fact and the names of those who talk."""
    lines = _lines(user)
    names = list(dict.fromkeys(who for _, who, _ in lines))
    first_two = [number for number, _, _ in lines[:2]]
    _, who, words = lines[0]
    fact = {"subject": who, "verb": _FORMS[language][1], "object": words}
    return {
        "episodes": [
            {"lines": [number], "text": text, "importance": 0.7}
            for number, text in _told(user, language)
        ],
        "facts": [{"lines": first_two, **fact}],
        "concepts": [{"lines": first_two, "name": name, "type": "entity"} for name in names],
        "habits": [],
        "kinds": [],
    }


def _checks(user: str, _language: str) -> dict[str, Any]:
    """The lines that say the statements: the known ones, or those that share most signs."""
    known = {
        question.statement: question.line
        for questions in QUESTIONS.values()
        for question in questions
    }
    block = _STATEMENTS.search(user)
    assert block is not None
    lines = _lines(user.replace(block[0], ""))
    answers = []
    for statement in _STATEMENT.findall(block[1]):
        shared = {number: len(set(statement) & set(text)) for number, _, text in lines}
        answers.append(known.get(statement, max(shared, key=lambda n: shared[n])))
    return {"answers": answers}


def _rewording(user: str, _language: str) -> dict[str, Any]:
    """The memory with its gaps filled."""
    memory = _MEMORY.search(user)
    assert memory is not None
    return {"memory": _GAP.sub(FILLED, memory[1])}


def _deep(_user: str, _language: str) -> dict[str, Any]:
    return {"step": "enough", "useful": [1], "ask": "", "questions": []}


def _assistant(_user: str, _language: str) -> dict[str, Any]:
    return {"said": "There is nothing to do."}


def _kinds(_user: str, _language: str) -> dict[str, Any]:
    return {"scenes": [], "kind": "none", "importance": 0}


def _short(text: str) -> str:
    """Its first sentence that says something, without what is done meanwhile."""
    plain = re.sub(r"\*[^*]*\*", "", text)
    sentences: list[str] = _SENTENCE.findall(plain) or [plain]
    return next(
        (sentence.strip() for sentence in sentences if len(sentence) > 8),
        sentences[0].strip(),
    )


_HAN = re.compile("[\u4e00-\u9fff]")
# By how the prompts of memory work begin, in English and Chinese
_WORK: dict[tuple[str, ...], Callable[[str, str], dict[str, Any]]] = {
    tuple(summary._SYSTEM.values()): _summary,
    tuple(extraction._SYSTEM.values()): _drafts,
    tuple(checking._SYSTEM.values()): _checks,
    tuple(digest._SYSTEM.values()): _digest,
    tuple(kinds._SYSTEM.values()): _kinds,
    tuple(rewording._SYSTEM.values()): _rewording,
    ("You look through the memory", "你在角色扮演聊天中一个角色的记忆里"): _deep,
    ("You keep the memory of one character", "你管理角色扮演聊天"): _assistant,
}
