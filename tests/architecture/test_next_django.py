"""Ready for the next Django: nothing deprecated on 5.2, and 6.1 starts where a Python can hold it."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import tracked

NEXT = "django>=6.1,<6.2"
STRICT = """
import sys, warnings
from django.utils import deprecation
for category in (deprecation.RemovedInNextVersionWarning, deprecation.RemovedAfterNextVersionWarning):
    warnings.simplefilter("error", category)
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", *sys.argv[1:]])
"""


def strictly(python: Path | str, folder: Path, *command: str) -> None:
    """Run a management command with Django's deprecations as errors, on data of its own."""
    environ = {**os.environ, "HUQAN_DATA_DIR": str(folder), "DJANGO_SETTINGS_MODULE": "huqan_site.settings"}
    environ.pop("HUQAN_DATABASE_URL", None)
    run = [str(python), "-c", STRICT, *command]
    done = subprocess.run(run, cwd=tracked.ROOT, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]


def newer_pythons() -> Iterator[str]:
    """Yield interpreters of 3.12 or newer that really run: on PATH, or pyenv's."""
    names = ["python3.14", "python3.13", "python3.12", "python3"]
    pyenv = sorted((Path.home() / ".pyenv" / "versions").glob("3.*/bin/python"), reverse=True)
    ask = "import sys; print(sys.executable); sys.exit(sys.version_info < (3, 12))"
    for candidate in [*names, *map(str, pyenv)]:
        try:
            said = subprocess.run([candidate, "-c", ask], capture_output=True, text=True, timeout=30)
        except OSError:
            continue
        if said.returncode == 0:
            yield said.stdout.strip()


def requirements() -> str:
    """Return the console's pins with Django's replaced by the next one."""
    pinned = re.findall(
        r"^[a-z0-9-]+==[^\\\n]+", (tracked.ROOT / "requirements.lock").read_text(), re.MULTILINE
    )
    return "\n".join(NEXT if line.startswith("django==") else line.strip() for line in pinned) + "\n"


@pytest.fixture(scope="module")
def next_django() -> Path:
    """Return a Python with the next Django in a cache outside the repository, made where it is missing."""
    python = next(newer_pythons(), None)
    if python is None:
        pytest.skip("Django 6.1 needs Python 3.12 or newer, and none is on this machine")
    wanted = requirements()
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    home = cache / "huqan-next-django" / hashlib.sha256((python + wanted).encode()).hexdigest()[:16]
    if not (home / "whole").exists():
        make(home, python, wanted)
    return home / "bin" / "python"


def make(home: Path, python: str, wanted: str) -> None:
    """Install `wanted` into a new environment, or skip with the reason why that cannot be had."""
    uv = Path(sys.executable).parent / "uv"
    home.parent.mkdir(parents=True, exist_ok=True)
    for command in (
        [uv, "venv", "--clear", "-q", "--python", python, home],
        [uv, "pip", "install", "-q", "--no-deps", "--python", home / "bin" / "python", "-r", "-"],
    ):
        done = subprocess.run(command, input=wanted, capture_output=True, text=True)
        if done.returncode:
            pytest.skip(f"the packages of Django 6.1 could not be had: {done.stderr.strip()[-300:]}")
    (home / "whole").touch()


def test_django_warns_about_nothing_we_do(tmp_path: Path) -> None:
    strictly(sys.executable, tmp_path, "check")


@pytest.mark.slow
def test_the_next_django_starts_on_this_code_without_a_warning(next_django: Path, tmp_path: Path) -> None:
    strictly(next_django, tmp_path, "check")
    strictly(next_django, tmp_path, "migrate", "--verbosity", "0")
