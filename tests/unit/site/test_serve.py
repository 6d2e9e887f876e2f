"""Where the server listens, and what it says when it cannot."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from huqan_site.first_start import curl, welcome
from huqan_site.serve import Address, address


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody listens on."""
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield other.getsockname()[1]


def test_a_port_that_nobody_asked_for_gives_way_to_the_next_free_one(
    taken: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("huqan_site.serve.FIRST_PORT", taken)
    assert address({}).port > taken


def test_a_port_that_was_asked_for_is_not_exchanged(taken: int) -> None:
    with pytest.raises(SystemExit, match=r"in use.*Choose another with PORT"):
        address({"PORT": str(taken)})
    with pytest.raises(SystemExit, match=r"in use.*Choose another with HUQAN_BIND"):
        address({"HUQAN_BIND": f"127.0.0.1:{taken}"})


def test_an_asked_for_port_that_is_free_is_taken() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    assert address({"PORT": str(free)}) == Address("127.0.0.1", free)


def test_bind_wins_over_port(taken: int) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    assert address({"HUQAN_BIND": f"127.0.0.1:{free}", "PORT": str(taken)}).port == free


@pytest.mark.parametrize("text", ["x", "0", "65536", "-1", "٨٠٨٠", ""])
def test_a_port_that_is_none_is_named(text: str) -> None:
    if text:
        with pytest.raises(SystemExit, match="PORT must look like 8000"):
            address({"PORT": text})
    else:
        assert address({"PORT": ""}).host == "127.0.0.1"


@pytest.mark.parametrize("text", ["127.0.0.1", ":8000", "127.0.0.1:"])
def test_a_bind_without_host_or_port_is_named(text: str) -> None:
    with pytest.raises(SystemExit, match="HUQAN_BIND must look like"):
        address({"HUQAN_BIND": text})


DEMO = {
    "url": "http://127.0.0.1:8000",
    "people": {
        "alice": {"password": "p-1", "workspace": "acme", "roles": ["reviewer"]},
        "root": {"password": "p-2", "workspace": None, "roles": []},
    },
    "agents": {"scout": {"token": "hqn_1_2", "workspace": "acme", "owner": "bob", "scopes": ["propose"]}},
}


def test_the_first_screen_says_where_who_and_how() -> None:
    text = welcome(DEMO)
    for part in ("http://127.0.0.1:8000", "alice", "p-1", "hqn_1_2", "Ctrl-C", "./run reset", "./run test"):
        assert part in text


def test_the_curl_line_is_one_line() -> None:
    assert "\n" not in curl(DEMO["url"], "hqn_1_2")
    assert curl(DEMO["url"], "hqn_1_2").startswith("curl -sS http://127.0.0.1:8000/api/v1/proposals -H ")
