"""Find a Chromium for the browser tests, or get one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import sync_playwright

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WHAT_TO_DO = (
    "No Chromium for the browser tests: none in $CHROMIUM, none on PATH, and neither `playwright install "
    "chromium` nor (as root, on Debian) `apt-get install chromium` brought one. Install Chromium or Chrome, "
    "or set CHROMIUM to the path of one."
)


class NoBrowser(Exception):
    """There is no browser and none can be had; the text says what to do."""


def installed() -> str | None:
    """Return the path of a browser that is here now and runs: $CHROMIUM, one on PATH, or Playwright's own."""
    return next((path for path in _candidates() if path and _runs(path)), None)


def find() -> str:
    """Return the path of a browser, fetching one where none is here. Raises: NoBrowser."""
    for fetch in (lambda: None, _fetch_playwrights, _fetch_debians):
        fetch()
        if path := installed():
            return path
    raise NoBrowser(WHAT_TO_DO)


def launch_arguments() -> list[str]:
    """Return Chromium's switches: nothing in the background, and no sandbox where it runs as root."""
    quiet = [
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ]
    return [*quiet, "--no-sandbox"] if os.geteuid() == 0 else quiet


def _candidates() -> Iterator[str | None]:
    yield os.environ.get("CHROMIUM")
    yield from map(shutil.which, NAMES)
    yield _playwrights_own()  # last: asking Playwright takes a second


def _runs(path: str) -> bool:
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def _playwrights_own() -> str | None:
    with sync_playwright() as playwright:
        path = playwright.chromium.executable_path
    return path if Path(path).exists() else None


def _fetch_playwrights() -> None:
    print("No browser here yet: trying playwright install chromium ...", file=sys.stderr)
    _attempt([sys.executable, "-m", "playwright", "install", "chromium"])


def _fetch_debians() -> None:
    if os.geteuid() == 0 and shutil.which("apt-get"):
        print("Trying Debian's chromium ...", file=sys.stderr)
        _attempt(["apt-get", "update", "-q"])
        _attempt(["apt-get", "install", "-q", "-y", "--no-install-recommends", "chromium"])


def _attempt(command: list[str]) -> None:
    quietly = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        subprocess.run(command, capture_output=True, timeout=600, env=quietly)
    except (OSError, subprocess.TimeoutExpired) as failure:
        print(f"{command[0]}: {failure}", file=sys.stderr)
