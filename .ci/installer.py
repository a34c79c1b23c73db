"""Bring .venv to the pinned versions, for start.py. Standard library only, and quick to import."""

import ast
import json
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from messages import DISK_FULL, Trouble, explain, say, tell
from processes import hold, run_logged

HERE = Path(__file__).resolve().parent.parent
VENV = HERE / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "soulmem-installed.json"
LOG = VENV / "install.log"
LOCK = HERE / ".venv.lock"  # held while .venv is changed
CONSTRAINTS = HERE / ".ci" / "constraints.txt"
LOCKED = HERE / ".ci" / "locked.txt"
SPACE = {
    "base": 1200,
    "test": 500,
    "mcp": 60,
    "cpu": 1800,
    "big": 9000,
}  # MB of disk, downloads included
BIG = "about 3 GB to download, 6 GB on the disk", "下载约 3 GB，占用磁盘约 6 GB"
GPU_PACKAGES = ("nvidia-", "cuda-", "triton")


@dataclass(frozen=True)
class Installed:
    """What is installed in .venv. `key` is empty until an installation is complete."""

    key: str
    extras: tuple[str, ...] = ()
    model: str = (
        "failed"  # or cpu, big, declined (several GB), unwanted (--no-model), absent (no build)
    )


@dataclass(frozen=True)
class Wish:
    """What `install` should install."""

    extras: tuple[str, ...] = ()
    model: bool = True
    big_torch: bool = False
    ask: bool = False  # whether the user can answer questions


def current_key() -> str:
    """A hash that changes with the pinned versions, the folder, and the Python of .venv."""
    import hashlib

    key = hashlib.sha256()
    for part in (CONSTRAINTS, LOCKED, HERE / "pyproject.toml"):
        key.update(part.read_bytes())
    key.update(str(HERE).encode())
    if PYTHON.exists():
        binary = PYTHON.resolve()
        key.update(f"{binary} {binary.stat().st_size} {binary.stat().st_mtime_ns}".encode())
    return key.hexdigest()


def read_stamp() -> Installed | None:
    """The last complete installation, or None."""
    try:
        fields = json.loads(STAMP.read_text(encoding="utf-8"))
        return Installed(str(fields["key"]), tuple(fields["extras"]), str(fields["model"]))
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_stamp(installed: Installed) -> None:
    """Write the stamp. A crash leaves either the old one or the new one."""
    fresh = STAMP.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(installed)), encoding="utf-8")
    os.replace(fresh, STAMP)


def is_ready(installed: Installed | None, key: str, extras: set[str]) -> bool:
    """Whether .venv needs no installation."""
    return installed is not None and installed.key == key and extras <= set(installed.extras)


@contextmanager
def alone() -> Iterator[None]:
    """Hold .venv for this process; another one waits, with words. Raises Trouble if the folder is not writable."""
    waiting = (
        "Another start.py installs into this folder; this one waits for it ...",
        "另一个 start.py 正在安装到这个文件夹，请稍候……",
    )
    try:
        file = LOCK.open("a", encoding="utf-8")
    except OSError as error:
        raise Trouble(
            f"Cannot write into {HERE} ({error.strerror}).\n"
            "Copy this folder to a place of your own, such as your home folder, and run start.py there.",
            f"无法写入 {HERE}（{error.strerror}）。\n"
            "请把整个文件夹复制到您自己的目录，再运行那里的 start.py。",
        ) from error
    with file:
        hold(file, lambda: say(*waiting))
        yield


def check_space(parts: Sequence[str]) -> None:
    """Raises Trouble if the disk has too little space for the missing `parts` (names in SPACE)."""
    taken = sum(path.lstat().st_size for path in VENV.rglob("*")) // 10**6
    need = sum(SPACE[part] for part in parts) - taken
    free = shutil.disk_usage(HERE).free // 10**6
    if free < need:
        english, chinese = DISK_FULL
        sizes = f"{free} MB / {need} MB"
        raise Trouble(english.format(words=sizes), chinese.format(words=sizes), "disk")


def run(command: Sequence[object], extra: Mapping[str, str] | None = None) -> tuple[int, str, str]:
    """Run a command with its output in the log. Returns exit code, stdout and stderr."""
    return run_logged(command, HERE, LOG, extra or {})


def pip(*arguments: object) -> None:
    """Run `pip install` in .venv. Raises Trouble with the remedy if it fails."""
    code, _, words = run([PYTHON, "-m", "pip", "install", *arguments])
    if code:
        raise explain(words)


def install_locked(*parts: str) -> None:
    """Install the pinned packages of these parts, each file checked against its hash; nothing is resolved.

    With uv where it is there: it is several times faster. Raises Trouble.
    """
    chosen = VENV / "chosen.txt"
    chosen.write_text(locked_for(set(parts)), encoding="utf-8")
    options = ["--no-deps", "--require-hashes", "--no-build-isolation", "-r", chosen]
    try:
        if not install_with_uv(options):
            pip(*options)
    finally:
        chosen.unlink(missing_ok=True)


def locked_for(parts: set[str]) -> str:
    """The lines of the locked packages that these parts need."""
    text = LOCKED.read_text(encoding="utf-8")
    blocks = re.findall(r"^# for: (.*)\n((?:[^#].*\n)*)", text, re.MULTILINE)
    return "".join(lines for named, lines in blocks if parts & set(named.split()))


def install_with_uv(options: Sequence[object]) -> bool:
    """Whether uv is there and could install. It looks where pip is configured to look."""
    uv = shutil.which("uv")
    if uv is None:
        return False
    _, listed, _ = run([PYTHON, "-m", "pip", "config", "list"])
    settings = {
        name: str(ast.literal_eval(value)).split()
        for name, value in re.findall(r"^\S*\.([a-z-]+)=('.*'|\".*\")$", listed, re.M)
    }
    named = ("index-url", "extra-index-url", "find-links")
    where = [
        word for name in named for value in settings.get(name, []) for word in (f"--{name}", value)
    ]
    if where:
        where += ["--index-strategy", "unsafe-best-match"]  # all of them, as pip does
    certificate = " ".join(settings.get("cert", []))
    extra = {"SSL_CERT_FILE": certificate} if certificate else {}
    command = [uv, "pip", "install", "--python", PYTHON, *where, *options]
    return run(command, extra)[0] == 0


def make_venv() -> None:
    """Create .venv if its Python does not start or has no pip. An incomplete .venv is replaced."""
    if PYTHON.exists() and run([PYTHON, "-c", "import pip._internal.cli.main"])[0] == 0:
        return
    import importlib.util

    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        raise Trouble(
            f"This Python comes without venv. On Debian or Ubuntu: sudo apt install {package}\n"
            "Elsewhere: install Python from python.org. Then run start.py again.",
            f"这个 Python 缺少 venv。Debian 或 Ubuntu 请运行：sudo apt install {package}\n"
            "其他系统请安装 python.org 的 Python。然后重新运行 start.py。",
        )
    shutil.rmtree(VENV, ignore_errors=True)
    code, output, words = run([sys.executable, "-m", "venv", VENV])
    if code:
        raise explain(output + words)


def drop_broken_packages() -> None:
    """Remove packages that are incomplete after an interruption, so that pip installs them again."""
    for folder in (
        *VENV.glob("lib/python3*/site-packages"),
        *VENV.glob("Lib/site-packages"),
    ):
        for leftover in folder.glob("~*"):
            shutil.rmtree(leftover, ignore_errors=True)
        for info in folder.glob("*.dist-info"):
            if not is_whole(info):
                shutil.rmtree(info)


def is_whole(info: Path) -> bool:
    """Whether every file in the package's RECORD exists with its full size."""
    import csv

    try:
        with (info / "RECORD").open(encoding="utf-8", newline="") as record:
            rows = [row for row in csv.reader(record) if len(row) == 3 and row[2]]
        return all((info.parent / name).stat().st_size == int(size) for name, _, size in rows)
    except (OSError, ValueError):
        return False


def is_gpu_build(report: Mapping[str, Any]) -> bool:
    """Whether pip's report lists libraries for a graphics card (several GB)."""
    names = [item["metadata"]["name"].lower() for item in report["install"]]
    return any(name.startswith(GPU_PACKAGES) for name in names)


def offer_model() -> str:
    """Which PyTorch pip would download here: cpu, big or absent. Downloads nothing."""
    report = VENV / "report.json"
    look = ["--dry-run", "--use-feature=fast-deps", "--report", report]
    try:
        pip("--only-binary=:all:", *look, "-c", CONSTRAINTS, "torch")
        is_big = is_gpu_build(json.loads(report.read_text(encoding="utf-8")))
        return "big" if is_big else "cpu"
    except Trouble as failure:
        if failure.kind == "absent":
            return "absent"
        raise
    finally:
        report.unlink(missing_ok=True)


def choose_model(offer: str, ask: bool) -> str:
    """Decide about the offer: cpu or big to download it, else the reason why not. Asks before several GB."""
    if offer != "big":
        return offer
    say(
        f"The full language model needs PyTorch, and here pip only finds its GPU build: {BIG[0]}.\n"
        "SoulMem also works without it, with a smaller multilingual model that is already installed.",
        f"完整的语言模型需要 PyTorch，而这里 pip 只能找到 GPU 版本：{BIG[1]}。\n"
        "不装它 SoulMem 也能运行，会使用已经装好的较小的多语言模型。",
    )
    if ask:
        say("Fetch it now? [y/N]", "现在下载吗？[y/N]")
        if sys.stdin.readline().strip().lower() in ("y", "yes", "是"):
            return "big"
    say(
        "Going on without it. To add it later: python3 start.py install --big-torch\n"
        "For PyTorch's CPU build (about 200 MB) name its index, which PyTorch's install page tells, in\n"
        "PIP_EXTRA_INDEX_URL and run: python3 start.py install",
        "先不安装。以后要装请运行：python3 start.py install --big-torch\n"
        "如果想用 CPU 版（约 200 MB），请把 PyTorch 安装页面给出的 CPU 版地址设为 PIP_EXTRA_INDEX_URL，\n"
        "再运行：python3 start.py install",
    )
    return "declined"


def compile_kernels() -> None:
    """Compile the search kernels for this machine. Where that fails, every start tries again."""
    say(
        "[3/4] Preparing the search for this processor (some 10 seconds) ...",
        "[3/4] 正在为这台机器的处理器准备检索（约 10 秒）……",
    )
    code, _, words = run([PYTHON, "-m", "soulmem.kernels.warm"])
    if code:
        last = words.strip().splitlines()[-1:] or [""]
        say(
            f"Not done now ({last[0]}). SoulMem prepares it at its start.",
            f"这次没有完成（{last[0]}）。SoulMem 启动时会再准备。",
        )


def install_model(wish: Wish) -> str:
    """Install the full model if it is wanted and available. Returns the value for Installed.model."""
    if not wish.model:
        return "unwanted"
    say(
        "[4/4] Installing the libraries of the full language model ...",
        "[4/4] 正在安装完整语言模型的依赖……",
    )
    try:
        model = "big" if wish.big_torch else choose_model(offer_model(), wish.ask)
        if model in ("cpu", "big"):
            check_space(["base", *wish.extras, model])
            pip("-c", CONSTRAINTS, "torch")
            install_locked("model")
        return model
    except Trouble as failure:
        tell(failure)
        say(
            "SoulMem works without the full model, with a smaller one.\n"
            "To try again: python3 start.py install",
            "没有完整模型 SoulMem 也能运行，会使用较小的模型。\n再次尝试请运行：python3 start.py install",
        )
        return "failed"


def install(wish: Wish) -> None:
    """Install what the lock and `wish` require. Can be interrupted and repeated; needs `alone`."""
    check_space(["base", *wish.extras])
    say("[1/4] Making the folder .venv ...", "[1/4] 正在创建 .venv 文件夹……")
    make_venv()
    unfinished = "big" if wish.big_torch else "failed" if wish.model else "unwanted"
    write_stamp(Installed("", wish.extras, unfinished))
    LOG.unlink(missing_ok=True)
    drop_broken_packages()
    say(
        "[2/4] Installing SoulMem and its libraries (a few minutes; details in .venv/install.log) ...",
        "[2/4] 正在安装 SoulMem 及其依赖（需要几分钟，详情见 .venv/install.log）……",
    )
    install_locked("tools")
    install_locked("base", *wish.extras)
    pip("--no-deps", "--no-build-isolation", "-e", ".")
    compile_kernels()
    write_stamp(Installed(current_key(), wish.extras, install_model(wish)))
    say("SoulMem is installed.", "SoulMem 安装完成。")


def install_as_asked(words: Sequence[str]) -> None:
    """The command `install` with its options."""
    wish_of(words, None, explicit=True)  # an unknown option is told at once
    with alone():
        install(wish_of(words, read_stamp(), explicit=True))


def install_what_misses(extras: set[str]) -> None:
    """Install unless .venv has all that its pins and these extras need; earlier choices stay."""
    if is_ready(read_stamp(), current_key(), extras):
        return
    with alone():
        before = read_stamp()  # another start.py may have installed meanwhile
        if not is_ready(before, current_key(), extras):
            wish = wish_of([], before, explicit=False)
            every = tuple(sorted(extras.union(wish.extras)))
            install(replace(wish, extras=every))


def wish_of(words: Sequence[str], before: Installed | None, explicit: bool) -> Wish:
    """The options of `install`, with earlier choices. Only an explicit install reverts --no-model."""
    options = {"--big-torch", "--mcp", "--no-model"}
    unknown = " ".join(sorted(set(words) - options))
    if unknown:
        every = " ".join(sorted(options))
        raise Trouble(
            f"start.py install has the options {every}, not {unknown}",
            f"start.py install 支持 {every}，不支持 {unknown}",
        )
    extras, settled = (before.extras, before.model) if before else ((), "")
    if "--mcp" in words:
        extras = tuple(sorted({*extras, "mcp"}))
    return Wish(
        # An earlier version may have had other extras.
        extras=tuple(extra for extra in extras if extra in SPACE),
        model="--no-model" not in words and (explicit or settled != "unwanted"),
        big_torch="--big-torch" in words or settled == "big",
        ask=sys.stdin is not None and sys.stdin.isatty(),
    )
