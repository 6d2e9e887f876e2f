"""The repository's own files, as git knows them: committed ones and new ones that are not ignored."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BINARY = {".png", ".ico", ".woff2", ".sqlite3", ".mo"}


@cache
def files() -> tuple[Path, ...]:
    """Return every file that belongs to the repository, sorted."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout.decode().split("\0")
    return tuple(path for name in sorted(filter(None, listed)) if (path := ROOT / name).is_file())


def python() -> list[Path]:
    """Return the repository's Python files."""
    return [path for path in files() if path.suffix == ".py"]


def texts() -> Iterator[tuple[str, str]]:
    """Yield the name and the text of each file that is text."""
    for path in files():
        if path.suffix not in BINARY:
            yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")


def lines_with(pattern: str) -> list[str]:
    """Return `name:line: text` for each line of a text file that the regular expression finds."""
    wanted = re.compile(pattern)
    return [
        f"{name}:{number}: {line.strip()[:120]}"
        for name, text in texts()
        for number, line in enumerate(text.splitlines(), 1)
        if wanted.search(line)
    ]
