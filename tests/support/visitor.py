"""A person at the console without a browser: the session's cookies, and the forms of the pages."""

from __future__ import annotations

import http.cookiejar
import re
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping
from html.parser import HTMLParser
from typing import Any

from tests.support.console import Answer, Console

PROBLEM = re.compile(r'data-problem="([a-z_]+)"')


class Visitor:
    """One person, signed in to one server."""

    def __init__(self, console: Console, name: str) -> None:
        self.console, self.name = console, name
        cookies = urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())
        self._open = urllib.request.build_opener(cookies, urllib.request.ProxyHandler({}))

    def sign_in(self) -> Visitor:
        """Sign in with the demo password. Raises: AssertionError where that is refused."""
        fields = {**self.form("/accounts/login/", "login"), "login": self.name}
        answer = self.send("/accounts/login/", {**fields, "password": self.console.password(self.name)})
        assert answer.status == 200, answer.body[-500:]
        assert b'name="password"' not in answer.body
        return self

    def moved_to(self, console: Console) -> Visitor:
        """Return the same person, with the same cookies, at another server on the same data."""
        other = Visitor(console, self.name)
        other._open = self._open
        return other

    def open(self, path: str) -> Answer:
        """Return a page."""
        return self._answer(urllib.request.Request(self.console.url + path))

    def form(self, path: str, field: str) -> dict[str, str]:
        """Return the fields of the form on the page at `path` that has a `field`, as the page fills them in."""
        page = self.open(path)
        forms = _Forms()
        forms.feed(page.body.decode())
        found = [form for form in forms.found if field in form]
        assert found, (page.status, path)
        return found[0]

    def ballot(self, proposal: str, verdict: str = "approve") -> dict[str, str]:
        """Open the proposal and fill in the decision form."""
        fields = self.form(f"/proposals/{proposal}/", "nonce")
        return {**fields, "verdict": verdict, "reason": "Checked against the ticket."}

    def cast(self, proposal: str, ballot: Mapping[str, str]) -> Answer:
        """Send a filled-in decision form."""
        return self.send(f"/proposals/{proposal}/decide/", ballot)

    def decide(self, proposal: str, verdict: str = "approve") -> Answer:
        """Open the proposal and decide."""
        return self.cast(proposal, self.ballot(proposal, verdict))

    def send(self, path: str, fields: Mapping[str, str]) -> Answer:
        """Post a form from the page that it stands on."""
        body = urllib.parse.urlencode(fields).encode()
        url = self.console.url + path
        return self._answer(urllib.request.Request(url, data=body, headers={"Referer": url}, method="POST"))

    def _answer(self, request: urllib.request.Request) -> Answer:
        try:
            with self._open.open(request, timeout=40) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as refusal:
            return Answer(refusal.code, refusal.headers, refusal.read())


def problem_of(page: Answer) -> str | None:
    """Return the code of the refusal that a page tells of, None where it tells of none."""
    found = PROBLEM.search(page.body.decode())
    return found[1] if found else None


class _Forms(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[dict[str, str]] = []
        self._inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        said: dict[str, Any] = dict(attrs)
        if tag == "form":
            self._inside = True
            self.found.append({})
        elif self._inside and tag in ("input", "textarea") and said.get("name"):
            is_box = said.get("type") in ("checkbox", "radio")
            if not is_box or "checked" in said:
                self.found[-1][said["name"]] = said.get("value") or ""

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._inside = False
