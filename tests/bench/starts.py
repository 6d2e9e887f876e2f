"""How long it takes until the page is there: from a bare clone, and with everything in place."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from statistics import median

from tests.bench.rounds import ROUNDS, row
from tests.support.console import ROOT, free_port

PATIENCE = 300  # seconds


@row("seconds from a clone to the page, one run", must=60, aim=20)
def first_run() -> float:
    with tempfile.TemporaryDirectory(prefix="huqan-clone-") as folder:
        clone = Path(folder) / "clone"
        start = time.perf_counter()
        subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
        return time.perf_counter() - start + _until_the_page(clone, Path(folder) / "var")


@row("seconds from a warm start to the page", must=3, aim=2)
def warm_start() -> float:
    with tempfile.TemporaryDirectory(prefix="huqan-start-") as folder:
        _until_the_page(ROOT, Path(folder))
        return median(_until_the_page(ROOT, Path(folder)) for _ in range(ROUNDS))


def _until_the_page(checkout: Path, data: Path) -> float:
    """Start as a person would and return the seconds until the sign-in page answers."""
    port = free_port()
    usual = {name: value for name, value in os.environ.items() if not name.startswith("HUQAN_")}
    environ = {**usual, "HUQAN_DATA_DIR": str(data), "PORT": str(port)}
    start = time.perf_counter()
    with subprocess.Popen([str(checkout / "run")], env=environ, stdout=subprocess.DEVNULL) as server:
        try:
            _wait(f"http://127.0.0.1:{port}/accounts/login/", server)
            return time.perf_counter() - start
        finally:
            server.terminate()


def _wait(url: str, server: subprocess.Popen[bytes]) -> None:
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    ends = time.monotonic() + PATIENCE
    while True:
        try:
            direct.open(url, timeout=5).read()
            return
        except OSError:
            if server.poll() is not None or time.monotonic() > ends:
                raise
            time.sleep(0.02)
