"""What only the demo keeps in clear: its random passwords and tokens, in one file of the data folder."""

from __future__ import annotations

import json
import os
import secrets
from dataclasses import dataclass, field
from pathlib import Path

FILE = "demo.json"


@dataclass
class Keepsake:
    """Passwords by account and token texts by agent; `save` replaces the file whole, mode 0600."""

    path: Path
    passwords: dict[str, str] = field(default_factory=dict)
    tokens: dict[str, str] = field(default_factory=dict)

    def save(self) -> None:
        draft = self.path.with_suffix(".new")
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as new:
            json.dump({"passwords": self.passwords, "tokens": self.tokens}, new, indent=1)
        draft.replace(self.path)


def open_keepsake(folder: Path) -> Keepsake:
    """Return what `folder` keeps of the demo; nothing at the first start."""
    path = folder / FILE
    if not path.exists():
        return Keepsake(path)
    kept = json.loads(path.read_text())
    return Keepsake(path, kept["passwords"], kept["tokens"])


def new_password() -> str:
    """Return a password that can be typed from a terminal: 80 random bits in four groups."""
    return "-".join(secrets.token_hex(3)[:5] for _ in range(4))
