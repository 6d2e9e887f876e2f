"""Every command, address and variable that a document names exists."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.core.management import get_commands
from django.urls import resolve

from tests.support import tracked
from tests.support.console import Console

SHELL = re.compile(r"^```sh\n(.*?)^```", re.MULTILINE | re.DOTALL)
ELSEWHERE = {"git", "cd", "psql", "createdb", "export"}  # a reader's own tools


def documents() -> list[Path]:
    """Return the README and what stands in docs/."""
    return [path for path in tracked.files() if path.suffix == ".md"]


def commands(document: Path) -> Iterator[list[str]]:
    """Yield the words of each command line in the document's shell blocks, without leading variables."""
    for block in SHELL.findall(document.read_text()):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line, comments=True)
            while words and re.match(r"[A-Z_]+=", words[0]):
                words.pop(0)
            if words:
                yield words


@cache
def known_to_run() -> set[str]:
    """Return the subcommands that `./run help` lists."""
    said = subprocess.run(
        ["./run", "help"], cwd=tracked.ROOT, capture_output=True, text=True, check=True
    ).stdout
    return set(re.findall(r"^\./run ([a-z]+)", said, re.MULTILINE))


def why_unknown(words: list[str]) -> str | None:
    """Return what is wrong with a command line, None where it would run."""
    program, *rest = words
    if program == "./run":
        if rest and rest[0] not in known_to_run():
            return f"./run has no command {rest[0]}"
        if rest[:1] == ["manage"] and rest[1] not in get_commands():
            return f"manage.py has no command {rest[1]}"
        return None
    if program == "curl":
        path = next(re.sub(r"^https?://[^/]+", "", word) for word in rest if "://" in word)
        resolve(path)
        return None
    return None if program in ELSEWHERE else f"{program} is not ours"


@pytest.mark.parametrize("document", documents(), ids=lambda path: path.name)
def test_every_command_in_a_document_exists(document: Path) -> None:
    wrong = [f"{shlex.join(words)}: {why}" for words in commands(document) if (why := why_unknown(words))]
    assert not wrong


def test_a_command_that_does_not_exist_is_noticed() -> None:
    assert why_unknown(["./run", "fly"])
    assert why_unknown(["./run", "manage", "fly"])
    assert why_unknown(["docker", "up"])


def test_every_variable_in_a_document_is_read_somewhere() -> None:
    code = "".join(text for name, text in tracked.texts() if name.endswith(".py") or name == "run")
    named = {
        name for document in documents() for name in re.findall(r"\bHUQAN_[A-Z_]+\b", document.read_text())
    }
    assert not {name for name in named if f'"{name}"' not in code and f"${name}" not in code}


def test_every_link_between_documents_leads_somewhere() -> None:
    broken = [
        f"{document.name}: {target}"
        for document in documents()
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", document.read_text())
        if not (document.parent / target).exists()
    ]
    assert not broken


@pytest.mark.slow
def test_the_readmes_agent_runs_until_its_proposal_is_settled(console: Console) -> None:
    example = re.search(r"```python\n(.*?)```", (tracked.ROOT / "README.md").read_text(), re.DOTALL)
    assert example
    agent = console.agent()
    environ = {**os.environ, "CONSOLE": console.url, "TOKEN": agent.token}
    running = subprocess.Popen(
        [sys.executable, "-c", example[1]], env=environ, stdout=subprocess.PIPE, text=True
    )
    try:
        agent.call("POST", f"/api/v1/proposals/{_proposed_by_the_example(console)}/withdraw", {})
        said, _ = running.communicate(timeout=40)
    finally:
        running.kill()
    assert said.split()[0] == "withdrawn"


def _proposed_by_the_example(console: Console) -> str:
    end = time.monotonic() + 20
    while time.monotonic() < end:
        listed = console.agent().call("GET", "/api/v1/proposals?status=pending&limit=100").json()["data"]
        for proposal in listed:
            if proposal["arguments"].get("content") == "The staging port is 7443.":
                return str(proposal["id"])
        time.sleep(0.2)
    raise AssertionError("the README's agent proposed nothing")
