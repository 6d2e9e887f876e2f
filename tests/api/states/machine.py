"""Agents, people and time do anything in any order, over HTTP; what must not happen is looked for after each step."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import time_machine
from django.db import connection, transaction
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from memory.models import MemoryRecord
from review.access.actors import PersonActor
from review.access.models import AgentToken, Membership, User
from review.audit.models import Entry
from review.audit.verify import verify
from review.models import Decision
from tests.api.states.expected import FINAL, OPEN, Expected, Member
from tests.support import factories
from tests.support.api import Api, problem
from tests.support.pages import browser
from tests.support.visitor import PROBLEM

REVIEWERS = ("alice", "bob", "carol")
TOOLS = {"payments.refund": 1, "mail.send": 2, "memory.write": 1}
"""What each needs, by the policy of tests.support.factories. bob owns the agent."""
INDEPENDENT = st.sampled_from(
    ("alice", "carol")
)  # an agent whose owner left is stopped, and does nothing more
WHICH = st.integers(0, 3)
VERDICTS = st.sampled_from(["approve", "approve", "approve", "reject", "request_changes"])
Form = tuple[str, str, dict[str, str]]
"""A filled-in form: of which proposal, for whom, and its fields."""
FORM = re.compile(r'name="(nonce|binding|revision)" value="([^"]*)"')


class Console(RuleBasedStateMachine):
    """One workspace a run. The clock stands still unless somebody lets time pass."""

    forms = Bundle("forms")
    travel: Any
    now: datetime
    seen: Counter[str] = Counter()
    """How often each end came, and each refusal of a form: what never came about was never tried."""

    @initialize(target=forms)
    def open_a_workspace(self) -> Any:
        self.before = transaction.savepoint()
        self.now = datetime(2030, 1, 1, tzinfo=UTC)
        self._travel()
        acme = factories.workspace("acme")
        self.people: dict[str, PersonActor] = {
            name: factories.person(name, acme, ["reviewer"]) for name in REVIEWERS
        }
        self.outsider = factories.person("mallory", factories.workspace("globex"), ["reviewer"])
        since = self.now - timedelta(days=30)
        self.members = {name: Member(name, since) for name in REVIEWERS}
        self.scout = factories.agent("scout", acme, owner=self.people["bob"])
        AgentToken.objects.update(expires_at=self.now + timedelta(days=90))
        self.api, self.expected = Api(self.scout), dict[str, Expected]()
        self.ended = dict[str, str]()
        return multiple(*self._begin())

    def _begin(self) -> Iterator[Form]:
        """Something waits, something has one vote of two, something may run; and forms of each lie filled in."""
        for tool in TOOLS:
            self.propose(tool, 1)
        refund, mail, _ = range(len(TOOLS))
        yield from [self.read(mail, "alice"), self.read(refund, "carol")]
        self.decide(refund, "alice", "approve")
        self.decide(mail, "alice", "approve")
        self.propose("payments.refund", 2)
        yield self.read(len(TOOLS), "carol")
        self.revise(len(TOOLS), 3, 0)

    # --- What the agent does ---------------------------------------------------------------------

    @rule(tool=st.sampled_from(sorted(TOOLS)), number=st.integers(1, 3))
    def propose(self, tool: str, number: int) -> None:
        answer = self.api.propose(tool, said(tool, number))
        if self._cooling_down(tool, number):
            assert problem(answer) == (409, "recently_rejected")
        elif self._too_few(TOOLS[tool]):
            assert problem(answer) == (422, "unsatisfiable")
        else:
            assert answer.status_code == 201, answer.content
            self._expect(answer.json(), tool, str(said(tool, number)))

    @rule(which=WHICH, number=st.integers(1, 3), behind=st.integers(0, 1))
    def revise(self, which: int, number: int, behind: int) -> None:
        one = self._pick(which)
        body = {"revision": one.revision - behind, "arguments": said(one.tool, number)}
        answer = self.api.post(f"/proposals/{one.id}/revisions", body)
        may = one.status in ("pending", "changes_requested") and not behind and not self._too_few(one.needs)
        assert (answer.status_code == 201) is may, answer.content
        if may:
            assert answer.json()["binding"] != one.binding
            one.revised(answer.json()["binding"], str(said(one.tool, number)), self.now)

    @rule(which=WHICH, doubt=st.integers(0, 5))
    def withdraw(self, which: int, doubt: int) -> None:
        one = self._pick(which)
        if doubt:  # else hardly anything would be there to be decided
            return
        answer = self.api.post(f"/proposals/{one.id}/withdraw", {})
        assert (answer.status_code == 200) is (one.status in OPEN), answer.content
        if answer.status_code == 200:
            one.status = "withdrawn"

    @precondition(lambda self: self._latest("approved"))
    @rule(which=WHICH, exactly=st.sampled_from([True, True, False]))
    def redeem(self, which: int, exactly: bool) -> None:
        one = self._pick(which, "approved")
        binding = one.binding if exactly else "0" * 64
        answer = self.api.post(f"/proposals/{one.id}/redeem", {"binding": binding})
        # The policy names the mailer as the audience of mails: scout's own redeem issues the permit all the same.
        assert (answer.status_code == 200) is (one.status == "approved" and exactly), answer.content
        if answer.status_code == 200:
            one.status, one.permit = "running", answer.json()["jti"]

    @precondition(lambda self: self._latest("running", "succeeded"))
    @rule(which=WHICH, result=st.sampled_from(["succeeded", "failed"]))
    def report(self, which: int, result: str) -> None:
        one = self._pick(which, "running", "succeeded")
        body = {"result": result, "jti": one.permit or "none"}
        answer = self.api.post(f"/proposals/{one.id}/outcome", body)
        may = one.status in ("running", "unknown") and one.permit is not None
        assert (answer.status_code == 200) is may, (one, answer.content)
        if may:
            one.status = result

    # --- What people do --------------------------------------------------------------------------

    @rule(target=forms, which=WHICH, name=st.sampled_from(REVIEWERS))
    def read(self, which: int, name: str) -> Form:
        """Open the page and keep its form, to send it later, or twice."""
        one = self._pick(which)
        if not self.members[name].is_active:
            return one.id, name, {}
        page = browser(self.people[name]).get(f"/proposals/{one.id}/")
        assert page.status_code == (200 if self.members[name].is_reviewer else 404)
        assert browser(self.outsider).get(f"/proposals/{one.id}/").status_code == 404
        form = dict(FORM.findall(page.content.decode()))
        assert not form or form["binding"] == one.binding
        return one.id, name, form

    @rule(which=WHICH, name=st.sampled_from(REVIEWERS), verdict=VERDICTS)
    def decide(self, which: int, name: str, verdict: str) -> None:
        self._send(*self.read(which, name), verdict)

    @rule(form=forms, verdict=VERDICTS)
    def decide_later(self, form: Form, verdict: str) -> None:
        self._send(*form, verdict)

    @rule(form=consumes(forms), borrower=st.sampled_from(REVIEWERS))
    def send_another_persons_form(self, form: Form, borrower: str) -> None:
        proposal, reader, fields = form
        if fields and borrower != reader and self.members[borrower].is_active:
            answer = self._post(proposal, borrower, fields, "approve")
            assert answer.status_code in (403, 404, 409), answer.content

    @rule(name=INDEPENDENT)
    def lose_the_role(self, name: str) -> None:
        member = self.members[name]
        if member.is_reviewer:
            self._let_pass(timedelta(seconds=1))
            Membership.objects.filter(person=self.people[name].person, until=None).update(until=self.now)
            member.is_reviewer = False

    @precondition(lambda self: not all(member.is_reviewer for member in self.members.values()))
    @rule(name=INDEPENDENT)
    def get_the_role_again(self, name: str) -> None:
        member = self.members[name]
        if not member.is_reviewer:
            person, workspace = self.people[name].person, self.scout.agent.workspace
            Membership.objects.create(person=person, workspace=workspace, role="reviewer", since=self.now)
            member.is_reviewer, member.since = True, self.now

    @rule(name=INDEPENDENT, is_active=st.booleans())
    def close_or_open_an_account(self, name: str, is_active: bool) -> None:
        User.objects.filter(person=self.people[name].person).update(is_active=is_active)
        self.members[name].is_active = is_active

    @rule(minutes=st.sampled_from([1, 4, 16, 60 * 25]))
    def let_time_pass(self, minutes: int) -> None:
        self._let_pass(timedelta(minutes=minutes))

    # --- What must hold after each step ----------------------------------------------------------

    @invariant()
    def the_agent_sees_what_must_be(self) -> None:
        for told in self.api.get("/proposals?limit=100").json()["data"] if hasattr(self, "api") else ():
            one = self.expected[told["id"]]
            one.meet(self.now)
            assert told["status"] == one.status or (one.status, told["status"]) == ("running", "unknown"), (
                told,
                one,
            )
            assert (told["revision"], told["binding"]) == (one.revision, one.binding)
            one.status = told["status"]

    @invariant()
    def what_ended_stays_as_it_ended(self) -> None:
        for one in getattr(self, "expected", {}).values():
            if one.status in FINAL:
                if one.id not in self.ended:
                    self.seen[one.status] += 1
                assert self.ended.setdefault(one.id, one.status) == one.status

    @invariant()
    def what_was_remembered_is_what_was_approved(self) -> None:
        for one in getattr(self, "expected", {}).values():
            kept = MemoryRecord.objects.filter(proposal_id=one.id, trust="trusted")
            assert kept.count() <= int(one.status == "executed")
            for record in kept:
                assert record.content in one.arguments

    def teardown(self) -> None:
        """Look at the log once more, and let nothing of the run last, however it ended."""
        if not hasattr(self, "travel"):
            return
        self.travel.stop()
        faults = () if connection.needs_rollback else verify().faults
        connection.needs_rollback = False
        transaction.savepoint_rollback(self.before)
        assert not faults, faults

    # --- How it is done --------------------------------------------------------------------------

    def _send(self, id: str, name: str, fields: dict[str, str], verdict: str) -> None:
        if not fields or not self.members[name].is_active:
            return
        one, member = self.expected[id], self.members[name]
        used = Decision.objects.filter(proposal_id=id)
        before, refusals = used.count(), self._refusals(id)
        may = one.may_decide(member, verdict, fields["binding"], False, self.now)
        answer = self._post(id, name, fields, verdict)
        recorded = used.count() - before
        if recorded:
            assert may, (one, member, verdict)
            self._recorded(one, name, verdict)
        elif answer.status_code != 200:  # 200 without a new row: this very form was recorded before
            assert not may or one.tool == "memory.write", (one, member, verdict, answer.status_code)
            assert self._refusals(id) == refusals + 1, answer.status_code
            self.seen.update(PROBLEM.findall(answer.content.decode()))

    def _recorded(self, one: Expected, name: str, verdict: str) -> None:
        one.decided(name, verdict, self.now)
        # Each vote is looked at again when the last one comes: who lost his role meanwhile is not counted.
        counted = {voter for voter in one.approved_by if self._counts(one, voter)}
        if verdict == "approve" and len(counted) >= one.needs:
            one.status = "executed" if one.tool == "memory.write" else "approved"

    def _counts(self, one: Expected, voter: str) -> bool:
        member = self.members[voter]
        return member.is_active and member.is_reviewer and member.since < one.submitted_at

    def _post(self, id: str, name: str, fields: dict[str, str], verdict: str) -> Any:
        form = {**fields, "verdict": verdict, "reason": "Checked against the ticket."}
        return browser(self.people[name]).post(f"/proposals/{id}/decide/", form)

    def _pick(self, which: int, *standing: str) -> Expected:
        """Return one of the latest proposals, of those `standing` so if that is said, as it is now."""
        latest = self._latest(*standing) or self._latest()
        one = latest[which % len(latest)]
        one.meet(self.now)
        return one

    def _latest(self, *standing: str) -> list[Expected]:
        return [one for one in self.expected.values() if not standing or one.status in standing][-4:]

    def _expect(self, told: dict[str, Any], tool: str, arguments: str) -> None:
        expires = datetime.fromisoformat(told["expires_at"]) if told["expires_at"] else None
        one = Expected(told["id"], tool, TOOLS[tool], arguments, told["status"], self.now, expires, {"bob"})
        one.binding = told["binding"]
        self.expected[one.id] = one

    def _cooling_down(self, tool: str, number: int) -> bool:
        return any(
            one.rejected_at is not None and self.now - one.rejected_at < timedelta(minutes=15)
            for one in self.expected.values()
            if (one.tool, one.arguments) == (tool, str(said(tool, number)))
        )

    def _too_few(self, needs: int) -> bool:
        """Whether fewer than `needs` people could decide what bob's agent asks now."""
        able = [m for m in self.members.values() if m.is_active and m.is_reviewer and m.since < self.now]
        return len([member for member in able if member.name != "bob"]) < needs

    def _refusals(self, id: str) -> int:
        return Entry.objects.filter(proposal=id, action="decision.refused").count()

    def _let_pass(self, time: timedelta) -> None:
        self.now += time
        self._travel()

    def _travel(self) -> None:
        if hasattr(self, "travel"):
            self.travel.stop()
        self.travel = time_machine.travel(self.now, tick=False)
        self.travel.start()


def said(tool: str, number: int) -> dict[str, Any]:
    """Return one of a few arguments for `tool`, so that the same ones come back."""
    if tool == "memory.write":
        return {
            "content": f"Door {number} opens to the north.",
            "provenance": {"kind": "user", "ref": "ticket-1"},
        }
    return {"number": number}
