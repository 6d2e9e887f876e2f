"""What the running server costs: against its simplest answer, with one client and with eight."""

from __future__ import annotations

import re
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from http.cookiejar import CookieJar
from statistics import median, quantiles

from tests.bench.bodies import arguments
from tests.bench.rounds import ROUNDS, row
from tests.support.console import Agent, Console, fetch

CALLS = 40
CLIENTS = 8
NO_HEADERS: Mapping[str, str] = {}


def timed(call: Callable[[], object]) -> float:
    """Return the seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


class Posting:
    """An agent that proposes one memory after the other, each with another text."""

    def __init__(self, agent: Agent) -> None:
        self._agent, self._number, self._lock = agent, 0, threading.Lock()

    def __call__(self) -> str:
        with self._lock:
            self._number += 1
            number = self._number
        answer = self._agent.propose("memory.write", arguments(number))
        assert answer.status == 201, answer.body
        return str(answer.json()["id"])


@row("POST a proposal against a hello-JSON answer, p50, 1 client", must=6, aim=4)
def post_one_client() -> float:
    with Console() as console:
        post = Posting(console.agent())
        return median(_p50(post) / _p50(lambda: fetch(f"{console.url}/healthz")) for _ in range(ROUNDS))


@row("POST a proposal against a hello-JSON answer, p99, 8 clients; no 5xx", must=8, aim=6)
def post_eight_clients() -> float:
    with Console() as console:
        post = Posting(console.agent())
        return median(_p99(post) / _p99(lambda: fetch(f"{console.url}/healthz")) for _ in range(ROUNDS))


@row("approve a memory write in the browser's form against POST a proposal, p50", must=2, aim=1.5)
def decide() -> float:
    return _decide({"HX-Request": "true"})


@row("the same without JavaScript: the answer is the whole page")
def decide_without_javascript() -> float:
    return _decide({})


def _decide(headers: dict[str, str]) -> float:
    with Console() as console:
        post, alice = Posting(console.agent()), Reviewer(console, "alice")
        shares = []
        for _ in range(ROUNDS):
            posts = [timed(post) for _ in range(CALLS // 2)]
            forms = [alice.form(post()) for _ in range(CALLS // 2)]
            shares.append(
                median(timed(lambda form=form: alice.send(*form, headers)) for form in forms) / median(posts)
            )
        return median(shares)


class Reviewer:
    """A signed-in person without a browser: opens pages and sends their forms."""

    def __init__(self, console: Console, name: str) -> None:
        jar = urllib.request.HTTPCookieProcessor(CookieJar())
        self._opener = urllib.request.build_opener(jar, urllib.request.ProxyHandler({}))
        self._url = console.url
        token = self._field(self.open("/accounts/login/"), "csrfmiddlewaretoken")
        signed_in = {"csrfmiddlewaretoken": token, "login": name, "password": console.password(name)}
        self.send("/accounts/login/", signed_in)

    def form(self, proposal: str) -> tuple[str, dict[str, str]]:
        """Open the page of `proposal` and return the address and the fields of an approval."""
        page = self.open(f"/proposals/{proposal}/")
        names = ("csrfmiddlewaretoken", "revision", "binding", "nonce")
        fields = {name: self._field(page, name) for name in names}
        return f"/proposals/{proposal}/decide/", {**fields, "verdict": "approve", "reason": "Measured."}

    def send(self, path: str, fields: dict[str, str], headers: Mapping[str, str] = NO_HEADERS) -> None:
        """Send a form. Raises: urllib.error.HTTPError for a refusal."""
        data = urllib.parse.urlencode(fields).encode()
        request = urllib.request.Request(self._url + path, data, {"Referer": self._url + path, **headers})
        self._opener.open(request, timeout=40).read()

    def open(self, path: str) -> str:
        """Return the page at `path`."""
        return str(self._opener.open(self._url + path, timeout=40).read().decode())

    @staticmethod
    def _field(page: str, name: str) -> str:
        found = re.search(rf'name="{name}" value="([^"]*)"', page)
        assert found, name
        return found[1]


def _p50(call: Callable[[], object]) -> float:
    return median(timed(call) for _ in range(CALLS))


def _p99(call: Callable[[], object]) -> float:
    spent: list[float] = []
    clients = [threading.Thread(target=_repeat, args=(call, spent)) for _ in range(CLIENTS)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert len(spent) == CLIENTS * CALLS, "an answer was a failure"
    return _percentile(spent, 99)


def _repeat(call: Callable[[], object], spent: list[float]) -> None:
    spent.extend([timed(call) for _ in range(CALLS)])


def _percentile(values: Sequence[float], place: int) -> float:
    return quantiles(values, n=100)[place - 1]
