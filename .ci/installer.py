"""Bring .venv to the pinned versions, for start.py. Standard library only, and quick to import."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent
VENV = HERE / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
STAMP = VENV / "soulmem-installed.json"
CONSTRAINTS = HERE / ".ci" / "constraints.txt"
SPACE = {
    "base": 1200,
    "test": 500,
    "mcp": 60,
    "cpu": 1800,
    "big": 9000,
}  # MB of disk, downloads included
BIG = "about 3 GB to download, 6 GB on the disk", "下载约 3 GB，占用磁盘约 6 GB"
GPU_PACKAGES = ("nvidia-", "cuda-", "triton")

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


@dataclass(frozen=True)
class Installed:
    """What is installed in .venv. `key` is empty until an installation is complete."""

    key: str
    extras: tuple[str, ...] = ()
    model: str = "failed"  # or cpu, big, declined (several GB), unwanted (--no-model), absent (no build)


@dataclass(frozen=True)
class Wish:
    """What `install` should install."""

    extras: tuple[str, ...] = ()
    model: bool = True
    big_torch: bool = False
    ask: bool = False  # whether the user can answer questions


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


def current_key() -> str:
    """A hash that changes with the pinned versions, the folder, and the Python of .venv."""
    import hashlib

    key = hashlib.sha256()
    for part in (CONSTRAINTS, HERE / "pyproject.toml"):
        key.update(part.read_bytes())
    key.update(str(HERE).encode())
    if PYTHON.exists():
        binary = PYTHON.resolve()
        key.update(
            f"{binary} {binary.stat().st_size} {binary.stat().st_mtime_ns}".encode()
        )
    return key.hexdigest()


def read_stamp() -> Installed | None:
    """The last complete installation, or None."""
    try:
        fields = json.loads(STAMP.read_text(encoding="utf-8"))
        return Installed(
            str(fields["key"]), tuple(fields["extras"]), str(fields["model"])
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write_stamp(installed: Installed) -> None:
    """Write the stamp. A crash leaves either the old one or the new one."""
    fresh = STAMP.with_suffix(".new")
    fresh.write_text(json.dumps(asdict(installed)), encoding="utf-8")
    os.replace(fresh, STAMP)


def is_ready(installed: Installed | None, key: str, extras: set[str]) -> bool:
    """Whether .venv needs no installation."""
    return (
        installed is not None
        and installed.key == key
        and extras <= set(installed.extras)
    )


def check_folder() -> None:
    """Raises Trouble if the folder of start.py is not writable."""
    probe = HERE / ".venv-probe"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        raise Trouble(
            f"Cannot write into {HERE} ({error.strerror}).\n"
            "Copy this folder to a place of your own, such as your home folder, and run start.py there.",
            f"无法写入 {HERE}（{error.strerror}）。\n"
            "请把整个文件夹复制到您自己的目录，再运行那里的 start.py。",
        ) from error


def check_space(parts: Sequence[str]) -> None:
    """Raises Trouble if the disk has too little space for the missing `parts` (names in SPACE)."""
    taken = sum(path.lstat().st_size for path in VENV.rglob("*")) // 10**6
    need = sum(SPACE[part] for part in parts) - taken
    free = shutil.disk_usage(HERE).free // 10**6
    if free < need:
        english, chinese = DISK_FULL
        sizes = f"{free} MB / {need} MB"
        raise Trouble(english.format(words=sizes), chinese.format(words=sizes), "disk")


def run(command: Sequence[object], quiet: bool = False) -> tuple[int, str]:
    """Run a command and show its output. Returns its exit code and its stderr."""
    environ = {
        **os.environ,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        "PIP_USER": "0",
        "PYTHONUTF8": "1",
    }
    # These variables would make pip install outside .venv.
    for name in ("PYTHONHOME", "PYTHONPATH", "PIP_TARGET", "PIP_PREFIX"):
        environ.pop(name, None)
    process = subprocess.Popen(
        [str(word) for word in command],
        cwd=HERE,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        errors="replace",
    )
    words = []
    with process:
        assert process.stderr is not None
        for line in process.stderr:
            words.append(line)
            if not quiet:
                sys.stderr.write(line)
    return process.returncode, "".join(words)


def pip(*arguments: object, quiet: bool = False) -> None:
    """Run `pip install` in .venv with the pinned versions. Raises Trouble with the remedy if it fails."""
    code, words = run(
        [PYTHON, "-m", "pip", "install", "-c", CONSTRAINTS, *arguments], quiet
    )
    if code:
        raise explain(words)


def explain(words: str) -> Trouble:
    """The error and remedy for an output of pip."""
    tail = words.strip()[-600:]
    for signs, kind, (english, chinese) in REMEDIES:
        if any(sign in words for sign in signs):
            return Trouble(english.format(words=tail), chinese.format(words=tail), kind)
    raise AssertionError("the last row fits every text")


def make_venv() -> None:
    """Create .venv if its Python does not start or has no pip. An incomplete .venv is replaced."""
    if (
        PYTHON.exists()
        and run([PYTHON, "-c", "import pip._internal.cli.main"], quiet=True)[0] == 0
    ):
        return
    import importlib.util

    if (
        importlib.util.find_spec("ensurepip") is None
        or importlib.util.find_spec("venv") is None
    ):
        package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
        raise Trouble(
            f"This Python comes without venv. On Debian or Ubuntu: sudo apt install {package}\n"
            "Elsewhere: install Python from python.org. Then run start.py again.",
            f"这个 Python 缺少 venv。Debian 或 Ubuntu 请运行：sudo apt install {package}\n"
            "其他系统请安装 python.org 的 Python。然后重新运行 start.py。",
        )
    shutil.rmtree(VENV, ignore_errors=True)
    code, words = run([sys.executable, "-m", "venv", VENV])
    if code:
        raise explain(words)


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
        return all(
            (info.parent / name).stat().st_size == int(size) for name, _, size in rows
        )
    except (OSError, ValueError):
        return False


def is_gpu_build(report: Mapping[str, Any]) -> bool:
    """Whether pip's report lists libraries for a graphics card (several GB)."""
    names = [item["metadata"]["name"].lower() for item in report["install"]]
    return any(name.startswith(GPU_PACKAGES) for name in names)


def offer_model() -> str:
    """Which full model pip would download here: cpu, big or absent. Downloads nothing."""
    report = VENV / "report.json"
    look = ["--dry-run", "--quiet", "--use-feature=fast-deps", "--report", report]
    try:
        pip(
            "--only-binary=:all:",
            "--no-build-isolation",
            *look,
            "-e",
            ".[model]",
            quiet=True,
        )
        return (
            "big"
            if is_gpu_build(json.loads(report.read_text(encoding="utf-8")))
            else "cpu"
        )
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
    code, words = run([PYTHON, "-m", "soulmem.kernels.warm"], quiet=True)
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
        "[4/4] Looking for the full language model ...",
        "[4/4] 正在查找完整的语言模型……",
    )
    try:
        model = "big" if wish.big_torch else choose_model(offer_model(), wish.ask)
        if model in ("cpu", "big"):
            check_space(["base", *wish.extras, model])
            pip("--no-build-isolation", "-e", ".[model]")
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
    """Install what the constraints and `wish` require. Can be interrupted and repeated."""
    check_folder()
    check_space(["base", *wish.extras])
    say("[1/4] Making the folder .venv ...", "[1/4] 正在创建 .venv 文件夹……")
    make_venv()
    unfinished = "big" if wish.big_torch else "failed" if wish.model else "unwanted"
    write_stamp(Installed("", wish.extras, unfinished))
    drop_broken_packages()
    say(
        "[2/4] Installing SoulMem and its libraries ...",
        "[2/4] 正在安装 SoulMem 及其依赖……",
    )
    builders = ["flit-core"]
    if "test" in wish.extras:
        builders.append("setuptools")  # for a test tool without a wheel
    pip("pip", *builders, quiet=True)
    pip(
        "--no-build-isolation",
        "-e",
        f".[{','.join(wish.extras)}]" if wish.extras else ".",
    )
    compile_kernels()
    write_stamp(Installed(current_key(), wish.extras, install_model(wish)))
    say("SoulMem is installed.", "SoulMem 安装完成。")


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
