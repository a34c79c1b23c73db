"""What start.py says, in English and Chinese, and the remedies for what pip says. Standard library only."""

import os
import sys
from collections.abc import Mapping

DISK_FULL = (
    "The disk is full. Free some space and run start.py again: it goes on where it stopped.\n"
    "The full model is the largest part; `start.py install --no-model` does without it.\n{words}",
    "磁盘空间不足。请清理后重新运行 start.py，会从中断处继续。\n"
    "最大的部分是完整模型，`start.py install --no-model` 可以不装它。\n{words}",
)
# Signs in pip's output, the kind of error, and what the user can do. The first row with a matching sign counts.
REMEDIES: tuple[tuple[tuple[str, ...], str, tuple[str, str]], ...] = (
    (("No space left", "Errno 28", "WinError 112", "Disk quota"), "disk", DISK_FULL),
    (
        ("Long Path", "WinError 206"),
        "path",
        (
            "A path is too long for Windows. Move this folder to a short one such as C:\\SoulMem, or turn\n"
            "on long paths (search for 'long paths' in the Windows settings); then run start.py again.",
            "路径对 Windows 来说太长。请把这个文件夹移到较短的路径（如 C:\\SoulMem），\n"
            "或在 Windows 设置中启用长路径，再重新运行 start.py。",
        ),
    ),
    (
        ("Read-only file system", "Permission denied", "WinError 5]"),
        "denied",
        (
            "Something in .venv cannot be written. Stop a SoulMem that still runs, delete the folder .venv\n"
            "and run start.py again as the user who owns this folder.\n{words}",
            "无法写入 .venv 中的文件。请先关闭正在运行的 SoulMem，删除 .venv 文件夹，\n"
            "再以文件夹所有者的身份重新运行 start.py。\n{words}",
        ),
    ),
    (
        ("DO NOT MATCH THE HASHES",),
        "changed",
        (
            "A file of the package registry is not the one that SoulMem names by its hash; nothing of it was\n"
            "installed. Use another mirror (PIP_INDEX_URL) or network and run start.py again.\n{words}",
            "软件包仓库给出的文件与 SoulMem 记录的哈希不符，没有安装它。\n"
            "请换一个镜像（PIP_INDEX_URL）或网络，再重新运行 start.py。\n{words}",
        ),
    ),
    (
        (
            "onnection",
            "NameResolution",
            "unreachable",
            "Max retries",
            "imeout",
            "timed out",
            "SSLError",
        ),
        "network",
        (
            "The package registry cannot be reached. Check the network (behind a proxy: HTTPS_PROXY; for a\n"
            "mirror: PIP_INDEX_URL) and run start.py again: what was fetched is kept.\n{words}",
            "无法连接软件包仓库。请检查网络（代理：HTTPS_PROXY；镜像：PIP_INDEX_URL），\n"
            "再重新运行 start.py，已下载的内容会保留。\n{words}",
        ),
    ),
    (
        ("No matching distribution",),
        "absent",
        (
            "A library has no build for this computer. SoulMem needs a 64-bit Python from python.org or\n"
            "from your system, on Windows, macOS or Linux (not Alpine, not Termux).\n{words}",
            "有依赖没有适合这台电脑的版本。SoulMem 需要 64 位的 Python（python.org 或系统自带），\n"
            "支持 Windows、macOS、Linux（不支持 Alpine 和 Termux）。\n{words}",
        ),
    ),
    (
        ("",),
        "other",
        (
            "The installation could not finish; its last words follow. Run start.py again; if it fails the\n"
            "same way, delete the folder .venv and try once more.\n{words}",
            "安装未能完成，最后的输出如下。请重新运行 start.py；\n"
            "如果仍然失败，请删除 .venv 文件夹再试一次。\n{words}",
        ),
    ),
)


class Trouble(Exception):
    """An error and what the user can do about it, in English and Chinese."""

    def __init__(self, english: str, chinese: str, kind: str = "other") -> None:
        super().__init__(english)
        self.chinese = chinese
        self.kind = kind  # of REMEDIES


def reads_chinese(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the system's settings say that the user reads Chinese."""
    for name in ("LC_ALL", "LC_MESSAGES", "LANG"):
        if environ.get(name):
            return environ[name].lower().startswith("zh")
    if sys.platform == "win32":
        import ctypes

        return ctypes.windll.kernel32.GetUserDefaultUILanguage() & 0x3FF == 0x04
    return False


def say(english: str, chinese: str) -> None:
    """Print a text in the user's language."""
    print(chinese if reads_chinese() else english, flush=True)


def tell(failure: Trouble) -> None:
    """Print an error in the user's language."""
    print(
        failure.chinese if reads_chinese() else str(failure),
        file=sys.stderr,
        flush=True,
    )


def explain(words: str) -> Trouble:
    """The error and remedy for an output of pip."""
    tail = words.strip()[-600:]
    for signs, kind, (english, chinese) in REMEDIES:
        if any(sign in words for sign in signs):
            return Trouble(english.format(words=tail), chinese.format(words=tail), kind)
    raise AssertionError("the last row fits every text")
