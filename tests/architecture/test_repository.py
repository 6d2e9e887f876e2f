"""What may stand in the repository, and what may not."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.support import tracked

LOCKS = ("requirements.lock", "requirements-dev.lock")
FIRST_SCREEN = 40


def lock(name: str) -> str:
    """Return the text of a lock file."""
    return (tracked.ROOT / name).read_text()


def pins(name: str) -> dict[str, str]:
    """Return version by distribution and marker."""
    found = re.findall(r"^([a-z0-9-]+)==([^\s\\]+)( ;[^\\]+)?", lock(name), re.MULTILINE)
    return {distribution + marker.strip(): version for distribution, version, marker in found}


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_host(name: str) -> None:
    assert "://" not in lock(name)
    assert not re.search(r"--(extra-)?index-url|--find-links", lock(name))


@pytest.mark.parametrize("name", LOCKS)
def test_every_pin_carries_a_hash(name: str) -> None:
    entries = re.split(r"^(?=[a-z0-9])", lock(name), flags=re.MULTILINE)[1:]
    assert len(entries) > 20
    assert not [entry for entry in entries if "--hash=sha256:" not in entry]


def test_the_dev_lock_holds_every_pin_of_the_console() -> None:
    assert pins(LOCKS[0]).items() <= pins(LOCKS[1]).items()


def test_the_locks_hold_what_pyproject_asks_for() -> None:
    project = tomllib.loads((tracked.ROOT / "pyproject.toml").read_text())
    for asked, name in (
        (project["project"]["dependencies"], LOCKS[0]),
        (project["dependency-groups"]["dev"], LOCKS[1]),
    ):
        locked = {re.split("[; ]", pin)[0] for pin in pins(name)}
        assert {re.split(r"[\[<>=]", requirement)[0].lower() for requirement in asked} <= locked


def test_no_file_names_a_package_registry() -> None:
    registries = "|".join(
        ("py" + "pi", "python" + "hosted", "npm" + "js", "deb" + r"ian\.org", "cra" + r"tes\.io")
    )
    assert not tracked.lines_with(rf"https?://[^\s/]*({registries})")


def test_no_file_holds_a_path_of_this_machine() -> None:
    here = {f"{tracked.ROOT}/", f"{tracked.ROOT.parent}/", f"{Path.home()}/"} - {"/", "//"}
    assert not tracked.lines_with("|".join(map(re.escape, sorted(here))))


def test_shared_cases_and_pictures_keep_their_bytes() -> None:
    attributes = (tracked.ROOT / ".gitattributes").read_text()
    assert "tests/data/** -text" in attributes
    assert "*.png binary" in attributes


def test_the_readme_is_short_and_starts_with_both_commands() -> None:
    lines = (tracked.ROOT / "README.md").read_text().splitlines()
    assert len(lines) <= 150
    assert "./run" in lines[:FIRST_SCREEN]
    assert "./run test" in lines[:FIRST_SCREEN]


def test_continuous_integration_runs_what_a_person_runs() -> None:
    assert (tracked.ROOT / ".ci" / "run").read_text().splitlines()[-1] == "exec ./run test"


def test_no_query_is_left_open_while_another_may_run() -> None:
    """Server-side cursors that are collected half-read lock a PostgreSQL connection; `stretches` reads instead."""
    calls = [line for line in tracked.lines_with(r"\.iterator\(") if not line.startswith("tests/")]
    assert not calls
