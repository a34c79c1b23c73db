"""A language model on a server of its own, called through litellm."""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
import threading
import time
from concurrent.futures import Future
from types import ModuleType
from typing import Any

from soulmem.adapters.bounded_http import TooLarge, bounded_client
from soulmem.assembly.token_estimate import estimate_tokens
from soulmem.domain.llm import (
    Completion,
    Failure,
    LlmFailed,
    Prompt,
    ToolRequest,
    ToolSpec,
    Unreadable,
)
from soulmem.domain.phrases import Wording, phrase
from soulmem.domain.texts import well_formed

log = logging.getLogger(__name__)

_TEMPERATURE = 0.2  # low, but above 0: at 0 a small model may repeat itself forever
_THINKING_TOKENS = 2048  # added for a model that reasons before it answers
_MAX_BYTES = 4 << 20  # of a response; the longest requested answer is a hundredth of it
_GRACE_SECONDS = 5.0  # after litellm's own timeout, in which it closes the connection
_SESSION = "aclient_session"  # litellm's attribute for its HTTP client
_LOOPBACK = "127.0.0.1,localhost,::1"
# Keep litellm from loading prices, headers and posts from the web, and any file .env.
_ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS": "True",
    "LITELLM_LOCAL_BLOG_POSTS": "True",
    "LITELLM_MODE": "PRODUCTION",
}
_LOGGERS_WITH_PROMPTS = (  # below level CRITICAL they quote prompts and keys
    "LiteLLM",
    "LiteLLM Router",
    "LiteLLM Proxy",
    "openai",
    "httpx",
    "httpcore",
)
_REFUSED_STATUSES = (400, 401, 402, 403, 404, 405, 413, 415, 422, 501)
_SCHEMA_REFUSED_STATUSES = (400, 404, 415, 422, 501)
_OPEN_THOUGHT = re.compile(
    r"\s*(?:<think|<reasoning|<thought|\[THINK|◁think|<\|channel\|>analysis)", re.I
)


class LitellmEndpoint:
    """One model of one server.

    Calls run on an event loop in a thread of its own, because litellm computes a lot between two waits.
    """

    def __init__(self, base_url: str, model: str, api_key: str, timeout: float) -> None:
        """If `base_url` is empty, the provider named in `model` is called. `timeout` in seconds."""
        self._base_url = base_url
        self._model = model
        self._key = api_key.strip()
        self._timeout = timeout
        self._takes_schema = True
        self._takes_tools = True
        self._refused_tools = False  # maybe for another reason
        self._thinks = False
        self._thread: _LoopThread | None = None
        self._starting = asyncio.Lock()

    @property
    def name(self) -> str:
        """The model's name in the settings."""
        return self._model

    @property
    def takes_tools(self) -> bool:
        """Whether tools are sent: until the server refuses them."""
        return self._takes_tools

    async def complete(self, prompt: Prompt) -> Completion:
        """The model's raw answer. Raises LlmFailed.

        If the server refuses a schema, the call is repeated once without it, and later calls send none. If it
        refuses tools, the call fails, and `takes_tools` is False once it has answered without them.
        """
        litellm = await asyncio.to_thread(_library)
        schema = prompt.schema if self._takes_schema else None
        try:
            answered = await self._ask(litellm, prompt, schema is not None)
            if self._refused_tools and prompt.tools is None:
                self._takes_tools = False  # the same server takes what has none
            return answered
        except _Refused as refusal:
            if refusal.status not in _SCHEMA_REFUSED_STATUSES:
                raise
            self._refused_tools = self._refused_tools or prompt.tools is not None
            if schema is None:
                raise
            answered = await self._ask(litellm, prompt, False)
        self._takes_schema = False
        log.info("%s does not support a JSON schema: none is sent", self._model)
        return answered

    async def stop(self) -> None:
        """Cancel running calls and close the connections."""
        thread, self._thread = self._thread, None
        if thread is not None:
            await asyncio.to_thread(thread.stop)

    async def _ask(self, litellm: ModuleType, prompt: Prompt, with_schema: bool) -> Completion:
        began = time.monotonic()
        async with self._starting:
            if self._thread is None:
                self._thread = await asyncio.to_thread(_LoopThread, litellm)
        call = self._thread.submit(self._request(litellm, prompt, with_schema))
        try:
            answer = await asyncio.wait_for(
                asyncio.wrap_future(call), self._timeout + _GRACE_SECONDS
            )
        except asyncio.TimeoutError:
            raise self._late() from None
        except Exception as error:  # providers' clients raise errors of many classes
            raise self._failure(litellm, error, prompt) from None
        return self._completion(answer, prompt, time.monotonic() - began)

    def _request(self, litellm: ModuleType, prompt: Prompt, with_schema: bool) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": _full_name(litellm, self._model, self._base_url),
            "messages": _messages(prompt),
            "max_tokens": prompt.max_tokens + (_THINKING_TOKENS if self._thinks else 0),
            "temperature": _TEMPERATURE,
            "timeout": self._timeout,
            "num_retries": 0,
            "max_retries": 0,
            "drop_params": True,
        }
        if self._base_url:
            request |= {"api_base": self._base_url, "api_key": self._key or "none"}
        elif self._key:
            request["api_key"] = self._key
        if prompt.tools is not None:
            request["tools"] = [_function(tool) for tool in prompt.tools.tools]
        if with_schema:
            shape = {"name": prompt.name, "schema": dict(prompt.schema or {})}
            request["response_format"] = {"type": "json_schema", "json_schema": shape}
        return request

    def _completion(self, answer: Any, prompt: Prompt, seconds: float) -> Completion:
        try:
            message, usage = answer.choices[0].message, getattr(answer, "usage", None)
            text = message.content or ""
            requests = _tool_requests(message)
        except (AttributeError, IndexError, TypeError):
            raise Unreadable(
                phrase(
                    "model_no_message",
                    "{model} answered without a message",
                    model=self._model,
                )
            ) from None
        thought = getattr(message, "reasoning_content", None)
        self._thinks = self._thinks or bool(thought) or bool(_OPEN_THOUGHT.match(text))
        if not text.strip() and not requests:
            if thought:
                raise Unreadable(
                    phrase(
                        "model_only_thought",
                        "{model} gave only reasoning",
                        model=self._model,
                    )
                )
            raise Unreadable(
                phrase(
                    "model_answer_empty",
                    "{model} gave an empty answer",
                    model=self._model,
                )
            )
        written = text + "".join(request.arguments for request in requests)
        prompt_tokens = getattr(usage, "prompt_tokens", 0) or sum(
            map(estimate_tokens, prompt.texts())
        )
        tokens = getattr(usage, "completion_tokens", 0) or estimate_tokens(written)
        return Completion(text, int(prompt_tokens), int(tokens), seconds, requests)

    def _failure(self, litellm: ModuleType, error: Exception, prompt: Prompt) -> LlmFailed:
        kinds = [type(each).__name__ for each in _chain(error)]
        status = getattr(error, "status_code", None)
        if isinstance(error, litellm.exceptions.Timeout) or "APITimeoutError" in kinds:
            return self._late()
        if any(_is_connection_error(kind) for kind in kinds):
            return self._unreached()
        if any(isinstance(each, TooLarge) for each in _chain(error)):
            return Unreadable(
                phrase(
                    "model_answer_long",
                    "the model {model} gave an answer of more than {most} MiB",
                    model=self._model,
                    most=_MAX_BYTES >> 20,
                )
            )
        detail = _safe_detail(str(error), prompt, self._key)
        if status in _REFUSED_STATUSES:
            return _Refused(
                int(status),
                phrase(
                    "model_refused",
                    "the model {model} refused the call ({status}){detail}",
                    model=self._model,
                    status=status,
                    detail=detail,
                ),
            )
        return LlmFailed(
            Failure.SERVER,
            phrase(
                "model_failed",
                "the model {model} failed ({error}, {status}){detail}",
                model=self._model,
                error=type(error).__name__,
                status=status,
                detail=detail,
            ),
        )

    def _late(self) -> LlmFailed:
        return LlmFailed(
            Failure.TIMEOUT,
            phrase(
                "model_late",
                "the model {model} did not answer within {seconds} s",
                model=self._model,
                seconds=f"{self._timeout:g}",
            ),
        )

    def _unreached(self) -> LlmFailed:
        if self._base_url:
            words = phrase(
                "model_unreached",
                "the model {model} cannot be reached at {url}",
                model=self._model,
                url=self._base_url,
            )
        else:
            words = phrase(
                "model_provider_away",
                "the model {model} cannot be reached at its provider",
                model=self._model,
            )
        return LlmFailed(Failure.UNREACHABLE, words)


class _Refused(LlmFailed):
    """The server refused the call, with this HTTP status."""

    def __init__(self, status: int, wording: Wording) -> None:
        super().__init__(Failure.REFUSED, wording)
        self.status = status


class _LoopThread:
    """An event loop in a thread of its own."""

    def __init__(self, litellm: ModuleType) -> None:
        """Reads certificates, so do not call this on an event loop."""
        self._loop = asyncio.new_event_loop()
        self._library = litellm
        self._session = bounded_client(_MAX_BYTES)
        setattr(litellm, _SESSION, self._session)
        # This thread only runs litellm's coroutines.
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="soulmem-llm", daemon=True
        )
        self._thread.start()

    def submit(self, request: dict[str, Any]) -> Future[Any]:
        """Start the call. Cancelling the returned future cancels it."""
        return asyncio.run_coroutine_threadsafe(self._library.acompletion(**request), self._loop)

    def stop(self) -> None:
        """End the loop: cancel running calls, close connections."""
        asyncio.run_coroutine_threadsafe(self._wind_up(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _wind_up(self) -> None:
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._session.aclose()
        if getattr(self._library, _SESSION, None) is self._session:
            setattr(self._library, _SESSION, None)
        close = getattr(self._library, "close_litellm_async_clients", None)
        if close is not None:
            await close()


def _library() -> ModuleType:
    """litellm, set up to log nothing and to use the network for calls only. Blocks for seconds at first."""
    with _IMPORTING:
        for name, value in _ENVIRONMENT.items():
            os.environ.setdefault(name, value)
        for name in ("NO_PROXY", "no_proxy"):  # a local model is not behind the proxy
            hosts = os.environ.get(name, "")
            if _LOOPBACK not in hosts:
                os.environ[name] = f"{hosts},{_LOOPBACK}".lstrip(",")
        try:
            import litellm
        except ImportError as error:
            raise LlmFailed(
                Failure.REFUSED,
                phrase(
                    "litellm_missing",
                    "litellm is not installed ({error}): run start.py again",
                    error=error,
                ),
            ) from error
        litellm.suppress_debug_info = True
        for name in _LOGGERS_WITH_PROMPTS:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        return sys.modules["litellm"]


_IMPORTING = threading.Lock()


def _full_name(litellm: ModuleType, model: str, base_url: str) -> str:
    """The name as litellm expects it, with a provider. The user's own server counts as OpenAI."""
    head, slash, _ = model.partition("/")
    providers = {str(getattr(provider, "value", provider)) for provider in litellm.provider_list}
    return model if not base_url or (slash and head in providers) else f"openai/{model}"


def _messages(prompt: Prompt) -> list[dict[str, Any]]:
    """The prompt as messages; earlier calls of tools and their results after it."""
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": prompt.system},
        {"role": "user", "content": prompt.user},
    ]
    for turn in prompt.tools.turns if prompt.tools is not None else ():
        calls = []
        for request in turn.requests:
            function = {"name": request.name, "arguments": request.arguments}
            calls.append({"id": request.id, "type": "function", "function": function})
        messages.append({"role": "assistant", "content": None, "tool_calls": calls})
        for request, result in zip(turn.requests, turn.results, strict=True):
            message = {"role": "tool", "tool_call_id": request.id, "content": result}
            messages.append(message)
    return messages


def _function(tool: ToolSpec) -> dict[str, Any]:
    function = {
        "name": tool.name,
        "description": tool.description,
        "parameters": dict(tool.parameters),
    }
    return {"type": "function", "function": function}


def _tool_requests(message: Any) -> tuple[ToolRequest, ...]:
    """The tools that a message calls. Raises AttributeError or TypeError for another shape."""
    calls = getattr(message, "tool_calls", None) or ()
    return tuple(
        ToolRequest(
            str(call.id or f"call_{number}"),
            str(call.function.name or ""),
            str(call.function.arguments or "{}"),
        )
        for number, call in enumerate(calls)
    )


def _is_connection_error(kind: str) -> bool:
    """Whether an error class of this name means that the server was not reached."""
    return kind == "gaierror" or ("Connect" in kind and kind != "APIConnectionError")


def _chain(error: BaseException | None) -> list[BaseException]:
    """The error and its causes."""
    errors: list[BaseException] = []
    while error is not None and error not in errors and len(errors) < 20:
        errors.append(error)
        error = error.__cause__ or error.__context__
    return errors


def _safe_detail(message: str, prompt: Prompt, key: str) -> str:
    """A short form of a server's message, without the key; empty if it quotes the prompt."""
    words = well_formed(" ".join(message.split()))
    if key:
        words = words.replace(key, "***")
    words = re.sub(r"\b(sk|key|Bearer)[-_ ][\w*.-]{6,}", r"\1-***", words)[:300]
    chat = " ".join(prompt.user.split())
    quoted = any(
        words[start : start + 24] in chat for start in range(0, max(1, len(words) - 24), 8)
    )
    return "" if quoted else f": {words}"
