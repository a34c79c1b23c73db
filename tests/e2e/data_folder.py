"""The user's SillyTavern folder: settings, cards, groups and chats as files."""

from __future__ import annotations

import base64
import json
import shutil
import struct
import zlib
from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any

from .sidecar import REPOSITORY
from .stories import Line

USER = "Alice"
EXTENSION = "SoulMem"
# What a user has after pasting the repository's address; tests, data and the virtual environment stay out.
SHIPPED = ("manifest.json", "package.json", "extension_js", "plugin")

# Extensions of SillyTavern that no scenario needs; loading them takes a sixth of the CPU of loading a page. The
# long run has them, and so have the SillyTavern without plugins and that of the new user.
NOT_NEEDED = (
    "assets",
    "caption",
    "expressions",
    "gallery",
    "stable-diffusion",
    "token-counter",
    "translate",
    "tts",
)

CONTEXT_TOKENS = 1500
REPLY_TOKENS = 250
BEGIN = datetime(2026, 3, 1, 9, tzinfo=timezone.utc)


class DataFolder:
    """One SillyTavern data root with one user. The server reads these files anew at each page load."""

    def __init__(
        self,
        root: Path,
        package: Path,
        llm_url: str,
        *,
        plugins: bool,
        extension: bool = True,
        disabled: Sequence[str] = (),
    ) -> None:
        """`plugins`: whether server plugins run; `extension`: whether ours is installed; `disabled`: extensions of
        SillyTavern that it does not load."""
        self._disabled = list(disabled)
        self._user = root / "data" / "default-user"
        self._llm_url = llm_url
        self._defaults = package / "default" / "content" / "settings.json"
        for folder in ("extensions", "characters", "groups"):
            (self._user / folder).mkdir(parents=True)
        # JSON is YAML; SillyTavern adds the keys that are missing.
        config = {
            "enableServerPlugins": plugins,
            "enableServerPluginsAutoUpdate": False,
            "enableDownloadableTokenizers": False,
            "extensions": {
                "enabled": True,
                "autoUpdate": False,
                "models": {"autoDownload": False},
            },
        }
        (root / "config.yaml").write_text(json.dumps(config), "utf-8")
        if extension:
            copy_repository(self._user / "extensions" / EXTENSION)

    def write_settings(self, soulmem: dict[str, Any]) -> None:
        """Fresh settings: connected to the mock, a small context, and `soulmem` as the extension's own."""
        settings = json.loads(self._defaults.read_text("utf-8"))
        settings |= {"firstRun": False, "username": USER, "main_api": "openai"}
        settings["power_user"] |= {
            "auto_connect": True,
            "confirm_message_delete": False,
            # Painting is half of the browser's work.
            "fast_ui_mode": True,
            "noShadows": True,
            "reduced_motion": True,
        }
        settings["oai_settings"] |= {
            "chat_completion_source": "custom",
            "custom_url": self._llm_url,
            "custom_model": "mock-1",
            "openai_max_context": CONTEXT_TOKENS,
            "openai_max_tokens": REPLY_TOKENS,
        }
        settings["extension_settings"] |= {
            "soulmem": soulmem,
            "disabledExtensions": self._disabled,
        }
        (self._user / "settings.json").write_text(json.dumps(settings), "utf-8")

    def change_settings(self, extension: str, its: dict[str, Any]) -> None:
        """Give another extension settings of its own."""
        file = self._user / "settings.json"
        settings = json.loads(file.read_text("utf-8"))
        settings["extension_settings"][extension] = its
        file.write_text(json.dumps(settings), "utf-8")

    def add_character(
        self,
        key: str,
        name: str,
        *,
        first: str,
        chat: str = "start",
        lines: Sequence[Line] = (),
        description: str | None = None,
        world: str | None = None,
    ) -> str:
        """A card whose last chat holds `lines`, or begins with `first`. Returns the avatar's file name."""
        fields = {
            "name": name,
            "description": f"{name} travels with {USER}." if description is None else description,
            "personality": "",
            "scenario": "",
        }
        fields |= {"first_mes": first, "mes_example": ""}
        card = {
            **fields,
            "chat": chat,
            "spec": "chara_card_v2",
            "spec_version": "2.0",
            "data": {**fields, "extensions": {} if world is None else {"world": world}},
        }
        (self._user / "characters" / f"{key}.png").write_bytes(_png(name, json.dumps(card)))
        if lines:
            self._write_chat(self._user / "chats" / key / f"{chat}.jsonl", lines)
        return f"{key}.png"

    def card(self, avatar: str) -> bytes:
        """The picture that carries a character."""
        return (self._user / "characters" / avatar).read_bytes()

    def add_chat(
        self, key: str, chat: str, lines: Sequence[Line], main_chat: str | None = None
    ) -> None:
        """A past chat of a character; `main_chat` is the one it was branched from."""
        metadata = {} if main_chat is None else {"main_chat": main_chat}
        self._write_chat(self._user / "chats" / key / f"{chat}.jsonl", lines, metadata)

    def add_world(self, name: str, entries: Sequence[tuple[str, str]]) -> None:
        """A world of (key, content) entries."""
        rows = {
            str(n): {
                "uid": n,
                "key": [key],
                "keysecondary": [],
                "comment": key,
                "content": content,
            }
            for n, (key, content) in enumerate(entries)
        }
        (self._user / "worlds").mkdir(exist_ok=True)
        (self._user / "worlds" / f"{name}.json").write_text(json.dumps({"entries": rows}), "utf-8")

    def add_group(
        self, key: str, name: str, members: Sequence[str], muted: Sequence[str] = ()
    ) -> None:
        """A group in which somebody speaks only when told to."""
        manual = 2
        group = {
            "id": key,
            "name": name,
            "members": list(members),
            "disabled_members": list(muted),
            "chat_id": key,
            "chats": [key],
            "avatar_url": "",
            "allow_self_responses": False,
            "activation_strategy": manual,
            "generation_mode": 0,
            "fav": False,
            "auto_mode_delay": 5,
        }
        (self._user / "groups" / f"{key}.json").write_text(json.dumps(group), "utf-8")

    @staticmethod
    def _write_chat(
        file: Path, lines: Sequence[Line], metadata: dict[str, Any] | None = None
    ) -> None:
        rows: list[dict[str, Any]] = [
            {
                "user_name": "unused",
                "character_name": "unused",
                "chat_metadata": metadata or {},
            }
        ]
        for number, line in enumerate(lines):
            sent_at = (
                (BEGIN + timedelta(minutes=5 * number))
                .isoformat(timespec="milliseconds")
                .replace("+00:00", "Z")
            )
            speaker = line.speaker or USER
            rows.append(
                {
                    "name": speaker,
                    "is_user": line.speaker is None,
                    "send_date": sent_at,
                    "mes": line.text,
                    "extra": {},
                }
            )
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), "utf-8")


def copy_repository(to: Path) -> None:
    """This working tree as the user installs it: copied, because SillyTavern's file guard follows links."""
    to.mkdir(parents=True)
    for name in SHIPPED:
        source = REPOSITORY / name
        if source.is_dir():
            shutil.copytree(source, to / name, ignore=shutil.ignore_patterns("node_modules"))
        else:
            shutil.copy2(source, to / name)


def _png(name: str, card: str) -> bytes:
    """A plain portrait in a colour of its own that carries `card` the way SillyTavern reads it."""
    width, height = 96, 144
    red, green, blue = (90 + zlib.crc32(name.encode() + bytes([n])) % 120 for n in range(3))
    pixels = (b"\0" + bytes([red, green, blue]) * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(pixels))]
    chunks += [(b"tEXt", b"chara\0" + base64.b64encode(card.encode())), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
