"""`./run test`: everything on SQLite, and what touches a database once more on PostgreSQL.

PostgreSQL goes first, so that the last line is pytest's own on the whole suite. With arguments of
the caller's only the one run happens; `--postgres` among them adds the other.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from tests.support import browser, postgres
from tests.support.environment import CLUSTER

NO_TESTS = 5  # pytest's exit status where nothing was selected
SHARED = ["-n", "2", "--dist", "loadgroup"]
ON_BOTH = ["-m", "both_engines"]


def pytest(arguments: Sequence[str], **more: str) -> int:
    """Run pytest in a process of its own and return its exit status."""
    return subprocess.run([sys.executable, "-m", "pytest", *arguments], env={**os.environ, **more}).returncode


def on_postgres(arguments: Sequence[str]) -> int:
    """Run what the markers say again on a private PostgreSQL; 0 where that cannot be had, loudly."""
    try:
        with postgres.cluster() as (url, folder):
            say("On PostgreSQL first (a private cluster):")
            status = pytest([*ON_BOTH, *arguments], HUQAN_DATABASE_URL=url, **{CLUSTER: str(folder)})
    except postgres.Unavailable as missing:
        say(f"NOT TESTED ON POSTGRESQL: {missing} Debian's package is called postgresql.")
        return 0
    return 0 if status == NO_TESTS else status


def say(sentence: str) -> None:
    """Print a sentence that stands out from pytest's own lines."""
    print(f"\n{'=' * 80}\n{sentence}\n{'=' * 80}", file=sys.stderr, flush=True)


def find_browser() -> None:
    """Put the browser's path where the tests look for it; without one the tests that need it say so."""
    try:
        os.environ["CHROMIUM"] = browser.find()
    except browser.NoBrowser as missing:
        say(str(missing))


def main(asked: list[str]) -> int:
    """Return the worse of the exit statuses of the runs that `asked` calls for."""
    arguments = [word for word in asked if word != "--postgres"]
    os.environ.pop("HUQAN_DATABASE_URL", None)  # never the caller's
    if not asked:
        find_browser()
    postgres_status = on_postgres(arguments or SHARED) if "--postgres" in asked or not asked else 0
    if not asked:
        say("Everything, on SQLite:")
    status = pytest(arguments or SHARED)
    if postgres_status and not status:
        say("Everything passed on SQLite, and something failed on PostgreSQL: see above.")
    return status or postgres_status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
