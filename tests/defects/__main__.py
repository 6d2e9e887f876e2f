"""Make each defect in a copy of the project and see that a test fails: `python -m tests.defects [NAME...]`.

It is what `./run defects` calls. A defect that no test catches, or that cannot be made any more, ends it with 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.defects.catalogue import DEFECTS, Defect
from tests.support import tracked

PATIENCE = 600  # seconds for the tests of one defect


def main(names: list[str]) -> int:
    chosen = [defect for defect in DEFECTS if not names or defect.name in names]
    with tempfile.TemporaryDirectory(prefix="huqan-defects-") as folder:
        copy = _copied(Path(folder) / "project")
        missed = [defect.name for defect in chosen if not _is_caught(defect, copy)]
    print(
        f"{len(chosen) - len(missed)} of {len(chosen)} defects caught."
        + (f" Missed: {', '.join(missed)}." if missed else "")
    )
    return int(bool(missed))


def _copied(copy: Path) -> Path:
    for path in tracked.files():
        target = copy / path.relative_to(tracked.ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target)
    return copy


def _is_caught(defect: Defect, copy: Path) -> bool:
    path = copy / defect.file
    sound = path.read_text()
    if sound.count(defect.old) != 1:
        print(
            f"CANNOT BE MADE  {defect.name}: the text stands {sound.count(defect.old)} times in {defect.file}",
            flush=True,
        )
        return False
    path.write_text(sound.replace(defect.old, defect.new))
    try:
        failed = _tests_fail(defect.tests, copy)
    finally:
        path.write_text(sound)
    print(f"{'caught' if failed else 'MISSED'}  {defect.name}", flush=True)
    return failed


def _tests_fail(tests: tuple[str, ...], copy: Path) -> bool:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    environ = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=copy, env=environ, capture_output=True, text=True, timeout=PATIENCE)
    if done.returncode not in (0, 1):
        raise SystemExit(f"pytest could not run {tests}: {done.stdout[-800:]}{done.stderr[-800:]}")
    return done.returncode == 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
