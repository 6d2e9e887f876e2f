"""The house rules that a machine can check: imports, types, style, sizes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import tracked

TOOLS = Path(sys.executable).parent
TOO_LONG = 600


def check(*command: str | Path) -> None:
    """Run a tool of this environment; its output is the failure's text."""
    done = subprocess.run(
        [TOOLS / command[0], *command[1:]],
        cwd=tracked.ROOT,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(tracked.ROOT), "NO_COLOR": "1"},
    )
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout[-6000:]}{done.stderr[-2000:]}"


def test_imports_point_one_way() -> None:
    check("lint-imports", "--no-cache")


def test_ruff_finds_nothing() -> None:
    check("ruff", "check", "--no-cache", ".")


def test_the_code_is_formatted() -> None:
    check("ruff", "format", "--check", "--no-cache", ".")


@pytest.mark.slow
def test_types_hold() -> None:
    check("mypy")


def test_djlint_finds_nothing_in_the_templates() -> None:
    check("djlint", "--lint", "--quiet", *[path for path in tracked.files() if path.suffix == ".html"])


def test_no_short_comment_of_a_template_goes_on_to_the_next_line() -> None:
    """Django takes it for text then, and shows it."""
    assert not [line for line in tracked.lines_with(r"\{#(?!.*#\})") if line.split(":")[0].endswith(".html")]


def test_each_file_reads_in_one_sitting() -> None:
    long = [str(path) for path in tracked.python() if len(path.read_text().splitlines()) >= TOO_LONG]
    assert not long


def test_nothing_is_left_for_later() -> None:
    words = "|".join(("TO" + "DO", "FIX" + "ME", "X" + "XX", "Not" + "ImplementedError"))
    assert not [line for line in tracked.lines_with(rf"\b({words})\b") if line.split(":")[0].endswith(CODE)]


CODE = (".py", ".html", ".js", ".css", "run")


def test_there_is_no_second_door_through_djangos_admin() -> None:
    from django.conf import settings

    assert not [app for app in settings.INSTALLED_APPS if app.startswith("django.contrib.admin")]
    imports = tracked.lines_with(r"^\s*(from|import) django\.contrib\.admin")
    assert not imports
