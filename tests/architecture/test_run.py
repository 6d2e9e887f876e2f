"""The traps that ./run must step around, each laid out in a scratch copy with programs that pretend."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import tracked

FAILING = "#!/bin/sh\necho 'shim: command not found' >&2\nexit 127\n"
BASIC = ("sh", "dirname", "cat", "cksum", "mkdir", "tail", "awk", "rm", "flock", "seq")


class Copy:
    """A copy of ./run and its locks, with a PATH that holds only what a test puts there."""

    def __init__(self, folder: Path) -> None:
        self.root, self.programs, self.data = folder / "a b", folder / "bin", folder / "data"
        for made in (self.root, self.programs):
            made.mkdir()
        for name in ("run", "requirements.lock", "requirements-dev.lock"):
            shutil.copy(tracked.ROOT / name, self.root)
        for name in BASIC:
            if found := shutil.which(name):
                (self.programs / name).symlink_to(found)
        (self.root / "manage.py").write_text("import sys; print('managed', *sys.argv[1:])")

    def program(self, name: str, text: str) -> None:
        """Put a program of this text on the PATH."""
        (self.programs / name).write_text(text)
        (self.programs / name).chmod(0o755)

    def python(self, name: str = "python3") -> None:
        """Put the real interpreter on the PATH under this name."""
        base = getattr(sys, "_base_executable", sys.executable)
        self.program(name, f'#!/bin/sh\nexec "{base}" "$@"\n')

    def uv(self) -> None:
        """Put a uv on the PATH that makes an empty environment, installs nothing and counts its installs."""
        base = getattr(sys, "_base_executable", sys.executable)
        self.program(
            "uv",
            f"""#!/bin/sh
case $1 in
--version) echo uv ;;
venv) exec "{base}" -m venv --without-pip .venv ;;
pip) echo install >>installs ;;
esac
""",
        )

    def run(self, *command: str, cwd: Path | None = None, **environ: str) -> subprocess.CompletedProcess[str]:
        """Run ./run with this copy's PATH and data folder."""
        seen = {"PATH": str(self.programs), "HUQAN_DATA_DIR": str(self.data), "HOME": str(self.root)}
        return subprocess.run(
            [self.root / "run", *command],
            cwd=cwd or self.root,
            env={**seen, **environ},
            capture_output=True,
            text=True,
        )

    def installs(self) -> int:
        """Return how often uv was asked to install."""
        return len((self.root / "installs").read_text().splitlines())


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


def test_an_interpreter_that_exists_and_fails_is_passed_over(copy: Copy) -> None:
    copy.program("python3.11", FAILING)
    copy.program("python3.12", "#!/bin/sh\necho\n")  # runs, and is too old to say its name
    copy.python("python3.13")
    copy.uv()
    assert copy.run("manage", "x").stdout == "managed x\n"


def test_without_a_python_it_says_which_to_install(copy: Copy) -> None:
    copy.program("python3", FAILING)
    refused = copy.run("setup")
    assert refused.returncode == 1
    assert "Python 3.11 or newer" in refused.stderr


@pytest.mark.parametrize("ruin", ["empty", "no stamp", "no interpreter"])
def test_a_half_made_environment_is_made_again(copy: Copy, ruin: str) -> None:
    copy.python()
    copy.uv()
    environment = copy.root / ".venv"
    if ruin == "empty":
        environment.mkdir()
    else:
        copy.run("setup")
        (environment / ("runtime.stamp" if ruin == "no stamp" else "bin/python")).unlink()
    (environment / "left-over").touch()
    assert copy.run("manage").stdout == "managed\n"
    assert not (environment / "left-over").exists()


def test_a_second_start_installs_nothing(copy: Copy) -> None:
    copy.python()
    copy.uv()
    copy.run("setup")
    again = copy.run("setup")
    assert (copy.installs(), again.stderr) == (1, "")


def test_a_changed_lock_is_installed(copy: Copy) -> None:
    copy.python()
    copy.uv()
    copy.run("setup")
    (copy.root / "requirements.lock").write_text("")
    copy.run("setup")
    assert copy.installs() == 2


def test_the_last_lines_of_a_failed_step_are_shown_and_all_are_kept(copy: Copy, tmp_path: Path) -> None:
    copy.python()
    copy.program("uv", "#!/bin/sh\n[ $1 = --version ]\n")  # answers, and can do nothing
    pretended = tmp_path / "pretended" / "venv"
    pretended.mkdir(parents=True)
    (pretended / "__init__.py").touch()
    (pretended / "__main__.py").write_text("for n in range(1, 101): print('line', n)\nraise SystemExit(3)")
    failed = copy.run("setup", PYTHONPATH=str(pretended.parent))
    assert failed.returncode == 1
    assert failed.stderr.splitlines()[-20:] == [f"line {n}" for n in range(81, 101)]
    assert "line 1\n" in (copy.data / "setup.log").read_text()
    assert str(copy.data / "setup.log") in failed.stderr


def test_it_runs_from_anywhere_and_a_relative_data_folder_is_the_callers(copy: Copy, tmp_path: Path) -> None:
    copy.python()
    copy.uv()
    (copy.root / "manage.py").write_text("import os; print(os.environ['HUQAN_DATA_DIR'], os.getcwd())")
    done = copy.run("manage", cwd=tmp_path, HUQAN_DATA_DIR="mine")
    assert done.stdout == f"{tmp_path}/mine {copy.root}\n"
    assert (tmp_path / "mine").stat().st_mode & 0o077 == 0


def test_an_unknown_command_lists_the_known_ones(copy: Copy) -> None:
    refused = copy.run("fly")
    assert refused.returncode == 2
    assert "./run test" in refused.stderr


def test_it_is_plain_posix_sh() -> None:
    for shell in filter(None, map(shutil.which, ("dash", "sh", "bash"))):
        posix = ["--posix"] if os.path.basename(shell) == "bash" else []
        subprocess.run([shell, *posix, "-n", tracked.ROOT / "run"], check=True)
