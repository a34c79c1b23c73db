"""Keeps the sidecar running for start.py: after a crash it is started again. Standard library only."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from messages import say
from processes import clean_environment

GAVE_UP = 3  # exit code after too many crashes; restarting start.py would not help
_OWN_CODES = frozenset({0, 1, 2, 130})  # the sidecar ended by itself, with a message
_STOP_SIGNALS = frozenset({signal.SIGINT, signal.SIGTERM})


@dataclass(frozen=True)
class Patience:
    """How often and how soon the sidecar is restarted after a crash. Times in seconds."""

    first: float = 1.0  # until the second start; doubled each time
    longest: float = 30.0  # longest pause
    tries: int = 5  # crashes in a row after which it is not restarted
    healthy: float = 60.0  # running time after which crashes are counted from 1 again

    def wait(self, crashes: int) -> float:
        """Seconds until the next start after `crashes` in a row (1 or more)."""
        return float(min(self.longest, self.first * 2 ** (crashes - 1)))


class Supervisor:
    """Runs a command, and restarts it after a crash, until it ends by itself or is asked to end."""

    def __init__(
        self,
        command: Sequence[str],
        patience: Patience | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._command = list(command)
        self._patience = patience or Patience()
        self._sleep = sleep
        self._clock = clock
        self._running: subprocess.Popen[bytes] | None = None
        self._ending = False

    def run(self) -> int:
        """Run the command. Returns its exit code, or `GAVE_UP` after too many crashes."""
        before = {number: signal.signal(number, self._pass_on) for number in _STOP_SIGNALS}
        try:
            return self._keep_alive()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def _keep_alive(self) -> int:
        crashes = 0
        while True:
            began = self._clock()
            code = self._once()
            lived = self._clock() - began
            if self._ending or not _is_crash(code, lived, self._patience):
                return code if code >= 0 else 128 - code
            crashes = 1 if lived >= self._patience.healthy else crashes + 1
            if crashes >= self._patience.tries:
                _tell_given_up(code, crashes)
                return GAVE_UP
            wait = self._patience.wait(crashes)
            _tell_again(code, wait)
            self._sleep(wait)
            if self._ending:
                return 0

    def _once(self) -> int:
        """Run the command once. Returns its exit code; negative: the signal that ended it."""
        self._running = subprocess.Popen(self._command, env=clean_environment())
        while True:
            try:
                return self._running.wait()
            except KeyboardInterrupt:
                continue  # the command got the same signal and ends by itself

    def _pass_on(self, number: int, _frame: object) -> None:
        """Pass a stop signal on to the command. Ctrl-C reaches it by itself, as in any console."""
        first, self._ending = not self._ending, True
        running = self._running
        if running is not None and running.poll() is None:
            if number != signal.SIGINT or not first:
                running.terminate()
        elif number == signal.SIGINT:
            raise KeyboardInterrupt


def _is_crash(code: int, lived: float, patience: Patience) -> bool:
    """Whether the end was a crash. An error with a message is one only if it comes long after the start."""
    if -code in _STOP_SIGNALS:
        return False
    return code not in _OWN_CODES or (code == 1 and lived >= patience.healthy)


def _tell_again(code: int, wait: float) -> None:
    say(
        f"SoulMem crashed (code {code}). Everything it had confirmed is saved. It restarts in {wait:g} s.",
        f"SoulMem 意外退出（代码 {code}）。已确认的内容都已保存；{wait:g} 秒后重新启动。",
    )


def _tell_given_up(code: int, crashes: int) -> None:
    say(
        f"SoulMem crashed {crashes} times in a row (code {code}) and is not restarted. SillyTavern works\n"
        "without it, and nothing that was saved is lost. Run `python3 start.py doctor`: it says what to do.",
        f"SoulMem 连续 {crashes} 次意外退出（代码 {code}），不再自动重启。酒馆可照常使用，\n"
        "已保存的内容不会丢失。请运行 `python3 start.py doctor`，它会告诉您该怎么办。",
    )
    sys.stdout.flush()
