#!/usr/bin/env python3
"""From a fresh clone to a running SoulMem: `python3 start.py`. Needs Python 3.10 to 3.13 and nothing else.

python3 start.py [options]       install what is missing, then run the sidecar (options go to `soulmem serve`)
python3 start.py install         only install; --big-torch takes a full model of several GB where there is no
                                 smaller one, --no-model leaves it out, --mcp adds
                                 the library of `soulmem mcp`
python3 start.py test [options]  install what the tests need and run every check (all: with the long tests,
                                 slow: those with a real language model, changed: those nearest to what
                                 differs from the branch main; other options go to pytest)
python3 start.py COMMAND ...     any other command of soulmem: demo, import, recall, doctor, ...
"""

import sys

# This check comes first, in syntax that an old Python can read: it could not run the code below.
if __name__ == "__main__" and not (3, 10) <= sys.version_info[:2] <= (3, 13):
    sys.exit(
        """SoulMem needs Python 3.10 to 3.13; this is {}.{}. Install one of these beside it (from python.org,
or with your system's packages) and run it by name: python3.12 start.py (Windows: py -3.12 start.py)
SoulMem 需要 Python 3.10 到 3.13。请另外安装其中之一，再指名运行：python3.12 start.py""".format(
            *sys.version_info
        )
    )

import os
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parent / ".ci"))

import installer
from installer import HERE, PYTHON, say
from supervisor import Supervisor

# Where SillyTavern looks for extensions: of one user, and of all.
EXTENSION_FOLDERS = ("extensions", "third-party")


def hand_over(arguments: Sequence[object]) -> NoReturn:
    """Replace this process by the Python of .venv."""
    command = [str(PYTHON), *map(str, arguments)]
    if os.name != "nt":
        os.execv(command[0], command)
    # On Windows, exec would return to the console at once.
    with subprocess.Popen(command) as process:
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


def main(words: Sequence[str]) -> None:
    """Run the command line; see the top of this file."""
    if words and words[0] in ("-h", "--help"):
        print(__doc__)
        return
    command, rest = (
        (words[0], words[1:])
        if words and not words[0].startswith("-")
        else ("serve", words)
    )
    before = installer.read_stamp()
    if command == "install":
        installer.install(installer.wish_of(rest, before, explicit=True))
        return
    needs = {"test"} if command == "test" else set[str]()
    if not installer.is_ready(before, installer.current_key(), needs):
        wish = installer.wish_of([], before, explicit=False)
        installer.install(replace(wish, extras=tuple(sorted(needs.union(wish.extras)))))
    if command == "test":
        hand_over([HERE / ".ci" / "checks.py", *rest])
    if command == "serve":
        next_steps()
        sys.exit(Supervisor([str(PYTHON), "-m", "soulmem", command, *rest]).run())
    hand_over(["-m", "soulmem", command, *rest])


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # A console without Chinese characters shows ? instead of failing.
            stream.reconfigure(errors="replace")
    try:
        main(sys.argv[1:])
    except installer.Trouble as failure:
        installer.tell(failure)
        sys.exit(1)
    except (
        OSError
    ) as error:  # like a full disk; commands that start.py runs print their own errors
        installer.tell(installer.explain(str(error)))
        sys.exit(1)
    except KeyboardInterrupt:
        say(
            "\nStopped. Run the same command again to continue from here.",
            "\n已停止。再次运行同一命令会从这里继续。",
        )
        sys.exit(130)
