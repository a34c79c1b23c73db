"""What `start.py` does with its words, once the Python that runs it is new enough. Standard library only."""

import os
import subprocess
import sys
from collections.abc import Sequence
from typing import NoReturn

import installer
from installer import HERE, PYTHON
from messages import Trouble, explain, say, tell
from processes import clean_environment
from supervisor import Supervisor

# Where SillyTavern looks for extensions: of one user, and of all.
EXTENSION_FOLDERS = ("extensions", "third-party")
SOULMEM = HERE / ".ci" / "run_soulmem.py"


def hand_over(arguments: Sequence[object]) -> NoReturn:
    """Replace this process by the Python of .venv."""
    command = [str(PYTHON), *map(str, arguments)]
    if os.name != "nt":
        os.execve(command[0], command, clean_environment())
    # On Windows, exec would return to the console at once.
    with subprocess.Popen(command, env=clean_environment()) as process:
        while True:
            try:
                sys.exit(process.wait())
            except KeyboardInterrupt:
                continue  # the child got the same signal and stops by itself


def next_steps() -> None:
    """Print what to do in SillyTavern once the sidecar runs."""
    is_installed = HERE.parent.name in EXTENSION_FOLDERS
    load = ("Load its page", "打开它的页面")
    install = (
        "Extensions (the stacked cubes) > Install extension > paste the address of this repository",
        "扩展（方块图标）> 安装扩展 > 粘贴本仓库的网址",
    )
    first = load if is_installed else install
    say(
        "SoulMem starts now; leave this window open. In SillyTavern:\n"
        f"  1. {first[0]}.\n"
        "  2. The brain at the message field gets a green light; if not, click it.\n"
        "  3. Open a chat. What it holds is read by itself, with progress.\n"
        "  4. Play on. The brain icon on a reply shows what was recalled for it.",
        "SoulMem 正在启动，请不要关闭这个窗口。在 SillyTavern 里：\n"
        f"  1. {first[1]}。\n"
        "  2. 输入框旁的大脑图标亮绿灯即可；不是绿灯时点它，它会告诉您该做什么。\n"
        "  3. 打开聊天。里面已有的内容会自动读取，并显示进度。\n"
        "  4. 继续聊天。点回复上的大脑图标，就能看到这条回复想起了什么。",
    )


def main(words: Sequence[str], usage: str) -> None:
    """Run the command line; `usage` is the help."""
    if words and words[0] in ("-h", "--help"):
        print(usage)
        return
    command, rest = (
        (words[0], words[1:]) if words and not words[0].startswith("-") else ("serve", words)
    )
    if command == "install":
        installer.install_as_asked(rest)
        return
    installer.install_what_misses({"test"} if command == "test" else set())
    if command == "test":
        hand_over([HERE / ".ci" / "checks.py", *rest])
    if command == "serve":
        next_steps()
        serve = [str(PYTHON), str(SOULMEM), command, *rest]
        sys.exit(Supervisor(serve).run())
    hand_over([SOULMEM, command, *rest])


def run(words: Sequence[str], usage: str) -> None:
    """Do what the words say; what goes wrong is told with its remedy."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A console without Chinese characters shows ? instead of failing.
            stream.reconfigure(errors="replace")
    try:
        main(words, usage)
    except Trouble as failure:
        tell(failure)
        sys.exit(1)
    except OSError as error:  # as a full disk; commands print their own errors
        tell(explain(str(error)))
        sys.exit(1)
    except KeyboardInterrupt:
        say(
            "\nStopped. Run the same command again to continue from here.",
            "\n已停止。再次运行同一命令会从这里继续。",
        )
        sys.exit(130)
