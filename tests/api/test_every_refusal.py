"""Every refusal of the contract is reached by its door, with its code, its status and its one sentence.

A code without a maker here fails. Where both doors reach a code, the page and the API say the same sentence.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from huqan_site.help import catalogue
from memory.models import MemoryRecord
from review.access.actors import PersonActor
from review.access.models import Agent, Membership
from review.audit.refusals import Unavailable
from review.domain import refusals
from review.models import Permit, Proposal
from review.services import propose as proposing
from review.services.issue_permit import redeem
from review.services.revise import revise
from review.services.spend_permit import spend
from tests.support import factories
from tests.support.api import Api, problem
from tests.support.memory_acts import doubtful, known, reject
from tests.support.pages import browser
from tests.support.policy_acts import proposed, with_rule
from tests.support.review_acts import at, call, mail, vote

pytestmark = pytest.mark.django_db
PAYOUT = {"tool": "payments.payout", "risk": "high", "approvals": 2, "step_up": True, "confirm": "/account"}
HEAVY = {"tool": "memory.write", "risk": "high", "approvals": 1}
ORDER = {"order": "20817"}
PASSWORD = "a long enough password"


class Scene:
    """The cast with both doors open, and the settings of the test to turn."""

    def __init__(self, settings: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        cache.clear()
        self.settings, self.monkeypatch = settings, monkeypatch
        self.cast = factories.team({**factories.POLICY, "rules": [PAYOUT, *factories.POLICY["rules"]]})
        self.api = Api(self.cast.scout)

    def page(self, person: PersonActor) -> Client:
        return browser(person)

    def approved(self) -> Proposal:
        return vote(self.cast.alice, call(self.cast.scout)).proposal

    def running(self) -> Permit:
        return redeem(self.approved().id, by=self.cast.scout, arguments=ORDER)

    def propose(self, tool: str = "payments.refund", arguments: Any = None, **more: Any) -> Any:
        return self.api.propose(tool, ORDER if arguments is None else arguments, **more)

    def raw(self, body: bytes) -> Any:
        return self.api.post("/proposals", raw=b'{"tool": "payments.refund", "arguments": ' + body + b"}")

    def remember(self, content: str, **more: Any) -> Any:
        source = {"kind": "user", "ref": "ticket-1"}
        return self.propose("memory.write", {"content": content, "provenance": source, **more})

    def redeem(self, proposal: Proposal, arguments: Any = ORDER) -> Any:
        return self.api.post(f"/proposals/{proposal.id}/redeem", {"arguments": arguments})

    def report(self, permit: Permit, result: str = "succeeded") -> Any:
        return self.api.post(
            f"/proposals/{permit.proposal_id}/outcome", {"result": result, "jti": str(permit.jti)}
        )

    def decide(
        self, person: PersonActor, proposal: Proposal, form: dict[str, str] | None = None, **fields: str
    ) -> Any:
        """Open the page, fill in its form unless it was opened before, and send it."""
        client = self.page(person)
        form = self.form(client, proposal) if form is None else form
        return client.post(f"/proposals/{proposal.id}/decide/", {**form, **fields})

    def form(self, client: Client, proposal: Proposal) -> dict[str, str]:
        proposal.refresh_from_db()
        shown = client.get(f"/proposals/{proposal.id}/").content.decode()
        nonce = re.search(r'name="nonce" value="([^"]*)"', shown)
        filled = {"revision": str(proposal.revision), "binding": proposal.binding, "verdict": "approve"}
        return {**filled, "nonce": nonce[1] if nonce else "", "reason": "Checked."}

    def edit(self, proposal: Proposal, raw: str, person: PersonActor | None = None, **fields: str) -> Any:
        filled = {"revision": "1", "raw": raw, "reason": "Mistyped."}
        client = self.page(person or self.cast.alice)
        return client.post(f"/proposals/{proposal.id}/edit/", {**filled, **fields})

    def rule(self, proposal: Proposal, **fields: str) -> Any:
        filled = {"result": "failed", "reason": "I looked."}
        return self.page(self.cast.alice).post(f"/proposals/{proposal.id}/rule/", {**filled, **fields})


Maker = Callable[[Scene], Any]


def _tombstoned(scene: Scene) -> Any:
    reject(doubtful(scene.cast.scout, "The port is 1."), scene.cast.alice)
    return scene.remember("the port is 1")


def _inactive(scene: Scene) -> Any:
    record = known(scene.cast.scout, "The port is 2.", scene.cast.alice)
    MemoryRecord.objects.filter(pk=record.pk).update(lifecycle="archived", retired_at=timezone.now())
    source = {"kind": "user", "ref": "t", "derived_from": [str(record.id)]}
    return scene.propose("memory.write", {"content": "So it was.", "provenance": source})


def _recently_rejected(scene: Scene) -> Any:
    vote(scene.cast.alice, call(scene.cast.scout), "reject")
    return scene.propose()


def _key_reused(scene: Scene) -> Any:
    scene.api.post("/proposals", {"tool": "a.b", "arguments": {}}, HTTP_IDEMPOTENCY_KEY="k")
    return scene.api.post("/proposals", {"tool": "a.b", "arguments": {"c": 1}}, HTTP_IDEMPOTENCY_KEY="k")


def _no_provenance(scene: Scene) -> Any:
    factories.set_policy(scene.cast.acme, {"rules": [HEAVY]})
    return scene.propose("memory.write", {"content": "The port is 3."})


def _too_many_pending(scene: Scene) -> Any:
    scene.settings.HUQAN_MAX_OPEN_PROPOSALS = 1
    call(scene.cast.scout)
    return scene.propose("a.b")


def _rate_limited(scene: Scene) -> Any:
    scene.settings.HUQAN_RATE_PER_MINUTE = 0
    return scene.api.get("/me")


def _unavailable(scene: Scene) -> Any:
    def full(*_: Any, **__: Any) -> None:
        raise Unavailable

    scene.monkeypatch.setattr(proposing, "settle", full)
    return scene.propose()


def _permit_spent(scene: Scene) -> Any:
    permit = scene.running()
    spend(permit.token, ORDER, by=scene.cast.scout)
    return scene.api.post("/permits/redeem", {"permit": permit.token, "arguments": ORDER})


def _already_reported(scene: Scene) -> Any:
    permit = scene.running()
    assert scene.report(permit).status_code == 200
    return scene.report(permit, "failed")


def _stopped(scene: Scene) -> Any:
    Agent.objects.update(stopped_at=timezone.now())
    return scene.propose()


def _stale_revision(scene: Scene) -> Any:
    proposal = call(scene.cast.scout)
    return scene.api.post(f"/proposals/{proposal.id}/revisions", {"revision": 7, "arguments": {}})


def _overdue(scene: Scene) -> Any:
    proposal = scene.approved()
    with at(proposal.expires_at):  # type: ignore[arg-type]
        return scene.redeem(proposal)


def _withdrawn_twice(scene: Scene) -> Any:
    proposal = call(scene.cast.scout)
    for _ in range(2):
        answer = scene.api.post(f"/proposals/{proposal.id}/withdraw", {})
    return answer


def _missing_scope(scene: Scene) -> Any:
    reader = factories.agent("reader", scene.cast.acme, owner=scene.cast.bob, scopes=["read"])
    return Api(reader).propose()


def _rule_changed(scene: Scene) -> Any:
    proposal = scene.approved()
    factories.set_policy(scene.cast.acme, {"defaults": {"ttl_seconds": 60}, "rules": []})
    return scene.redeem(proposal)


def _nobody_left(scene: Scene) -> Any:
    Membership.objects.exclude(person=scene.cast.bob.person).delete()
    return scene.propose()


BY_API: dict[str, Maker] = {
    "malformed": lambda s: s.raw(b"{"),
    "duplicate_key": lambda s: s.raw(b'{"a": 1, "\\u0061": 2}'),
    "forbidden_key": lambda s: s.raw(b'{"__proto__": 1}'),
    "integer_out_of_range": lambda s: s.raw(b'{"a": 9007199254740993}'),
    "inexact_number": lambda s: s.raw(b'{"a": 0.10000000000000000001}'),
    "forbidden_character": lambda s: s.raw(b'{"a": "\\u0000"}'),
    "too_large": lambda s: s.raw(b'{"a": ' + b"[" * 40 + b"]" * 40 + b"}"),
    "bad_cursor": lambda s: s.api.get("/proposals?cursor=x"),
    "unauthorized": lambda s: Api(None).get("/me"),
    "missing_scope": _missing_scope,
    "agent_stopped": _stopped,
    "blocked": lambda s: s.propose("shell.run", {}),
    "not_found": lambda s: s.api.get(f"/proposals/{uuid4()}"),
    "method_not_allowed": lambda s: s.api.request("DELETE", "/proposals"),
    "unsupported_media_type": lambda s: s.api.post("/proposals", {}, media="text/plain"),
    "tombstoned": _tombstoned,
    "inactive": _inactive,
    "recently_rejected": _recently_rejected,
    "expired_content": lambda s: s.remember("The port is 4.", expires_at="2001-01-01T00:00:00Z"),
    "stale_revision": _stale_revision,
    "already_decided": _withdrawn_twice,
    "not_approved": lambda s: s.redeem(call(s.cast.scout)),
    "expired": _overdue,
    "policy_changed": _rule_changed,
    "permit_spent": _permit_spent,
    "arguments_drifted": lambda s: s.redeem(s.approved(), {"order": 20817}),
    "not_running": lambda s: s.api.post(
        f"/proposals/{s.approved().id}/outcome", {"result": "failed", "jti": str(uuid4())}
    ),
    "already_reported": _already_reported,
    "invalid": lambda s: s.propose("two words", {}),
    "key_reused": _key_reused,
    "unsatisfiable": _nobody_left,
    "not_delegated": lambda s: s.propose(on_behalf_of="carol"),
    "no_provenance": _no_provenance,
    "bad_permit": lambda s: s.api.post("/permits/redeem", {"permit": "a.b.c", "arguments": {}}),
    "rate_limited": _rate_limited,
    "too_many_pending": _too_many_pending,
    "unavailable": _unavailable,
}


# By the page.


def _by_newcomer(scene: Scene) -> Any:
    proposal = call(scene.cast.scout)
    eve = factories.person("eve")
    Membership.objects.create(
        person=eve.person, workspace=scene.cast.acme, role="reviewer", since=timezone.now()
    )
    return scene.decide(eve, proposal)


def _page_of_old_rule(scene: Scene) -> Any:
    proposal = call(scene.cast.scout)
    form = scene.form(scene.page(scene.cast.alice), proposal)
    factories.set_policy(scene.cast.acme, {"defaults": {"ttl_seconds": 60}, "rules": []})
    return scene.decide(scene.cast.alice, proposal, form)


def _page_of_old_revision(scene: Scene) -> Any:
    proposal = call(scene.cast.scout)
    form = scene.form(scene.page(scene.cast.alice), proposal)
    revise(proposal.id, by=scene.cast.scout, replaces=1, arguments={"order": "2"})
    return scene.decide(scene.cast.alice, proposal, form)


def _twice(scene: Scene) -> Any:
    proposal = mail(scene.cast.scout)
    vote(scene.cast.alice, proposal)
    return scene.decide(scene.cast.alice, proposal)


def _late(scene: Scene) -> Any:
    proposal = call(scene.cast.scout)
    form = scene.form(scene.page(scene.cast.alice), proposal)
    Proposal.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    return scene.decide(scene.cast.alice, proposal, form)


def _payout(scene: Scene, **fields: str) -> Any:
    scene.cast.alice.user.set_password(PASSWORD)
    scene.cast.alice.user.save()
    proposal = call(scene.cast.scout, "payments.payout", {"account": "DE1"})
    return scene.decide(scene.cast.alice, proposal, **fields)


def _together(scene: Scene) -> Any:
    """Two refunds, of medium risk, approved with one click."""
    refunds = [str(call(scene.cast.scout, arguments={"order": str(n)}).id) for n in range(2)]
    return scene.page(scene.cast.alice).post(
        "/proposals/together/", {"proposal": refunds, "verdict": "approve"}
    )


def _ruled_twice(scene: Scene) -> Any:
    permit = scene.running()
    scene.report(permit, "unknown")
    assert scene.rule(permit.proposal).status_code == 200
    return scene.rule(permit.proposal)


def _edited_into_rejected(scene: Scene) -> Any:
    reject(doubtful(scene.cast.scout, "The port is 1."), scene.cast.alice)
    answer = scene.remember("The port is 5.")
    proposal = Proposal.objects.get(pk=answer.json()["id"])
    return scene.edit(proposal, '{"content": "The port is 1.", "provenance": {"kind": "user", "ref": "t"}}')


def _edited_policy(scene: Scene) -> Any:
    policy = with_rule(scene.cast.acme, "payments.*", risk="high", approvals=1)
    change = proposed(scene.cast.dana, scene.cast.acme, policy)
    return scene.edit(change, "{}", scene.cast.erin)


def _decided(scene: Scene) -> Any:
    proposal = call(scene.cast.scout)
    form = scene.form(scene.page(scene.cast.carol), proposal)
    vote(scene.cast.alice, proposal, "reject")
    return scene.decide(scene.cast.carol, proposal, form)


BY_PAGE: dict[str, Maker] = {
    "not_found": lambda s: s.decide(s.cast.mallory, call(s.cast.scout)),
    "bad_verdict": lambda s: s.decide(s.cast.alice, call(s.cast.scout), verdict="yes"),
    "already_decided": _decided,
    "expired": _late,
    "not_eligible": lambda s: s.decide(s.cast.dana, call(s.cast.scout)),
    "role_too_new": _by_newcomer,
    "self_approval": lambda s: s.decide(s.cast.bob, call(s.cast.scout)),
    "policy_changed": _page_of_old_rule,
    "stale_binding": _page_of_old_revision,
    "same_person": _twice,
    "step_up_required": lambda s: _payout(s, confirm="DE1"),
    "reason_required": lambda s: s.decide(s.cast.alice, call(s.cast.scout), verdict="reject", reason=" "),
    "confirm_mismatch": lambda s: _payout(s, password=PASSWORD, confirm="DE2"),
    "not_together": lambda s: _together(s),
    "stale_revision": lambda s: s.edit(call(s.cast.scout), '{"order": "2"}', revision="9"),
    "invalid": lambda s: s.edit(call(s.cast.scout), '{"order": "20817"}'),
    "blocked": _edited_policy,
    "tombstoned": _edited_into_rejected,
    "unsatisfiable": lambda s: s.edit(mail(s.cast.scout), '{"to": "x@y.example"}'),
    "malformed": lambda s: s.edit(call(s.cast.scout), "{"),
    "duplicate_key": lambda s: s.edit(call(s.cast.scout), '{"a": 1, "a": 2}'),
    "forbidden_key": lambda s: s.edit(call(s.cast.scout), '{"__proto__": 1}'),
    "integer_out_of_range": lambda s: s.edit(call(s.cast.scout), '{"a": 9007199254740993}'),
    "inexact_number": lambda s: s.edit(call(s.cast.scout), '{"a": 0.10000000000000000001}'),
    "forbidden_character": lambda s: s.edit(call(s.cast.scout), '{"a": "\\u0000"}'),
    "too_large": lambda s: s.edit(call(s.cast.scout), f'{{"a": {"[" * 40}{"]" * 40}}}'),
    "not_running": lambda s: s.rule(call(s.cast.scout)),
    "already_reported": _ruled_twice,
}

CONTRACT_API = {
    *("malformed", "duplicate_key", "forbidden_key", "integer_out_of_range", "inexact_number", "too_large"),
    *("forbidden_character", "bad_cursor", "unauthorized", "missing_scope", "agent_stopped", "blocked"),
    *("not_found", "method_not_allowed", "unsupported_media_type", "tombstoned", "inactive", "expired"),
    *("recently_rejected", "expired_content", "stale_revision", "already_decided", "not_approved"),
    *("permit_spent", "arguments_drifted", "not_running", "already_reported", "invalid", "key_reused"),
    *("unsatisfiable", "not_delegated", "no_provenance", "bad_permit", "rate_limited", "too_many_pending"),
    "unavailable",
}
CONTRACT_PAGE = {
    *("self_approval", "not_eligible", "role_too_new", "step_up_required", "already_decided", "not_found"),
    *("stale_binding", "policy_changed", "same_person", "expired", "bad_verdict", "reason_required"),
    "confirm_mismatch",
}


@pytest.fixture
def scene(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Scene:
    return Scene(settings, monkeypatch)


OWN_SENTENCES = {
    "not_found": refusals.NotFound.detail,
    "self_approval": "You own scout. Someone else must approve.",
    "not_eligible": "Deciding this needs an active reviewer membership in its workspace, and you have none.",
}
MORE_PRECISE = {
    "blocked": "A person started this, so nobody else writes it. Reject it, or request changes.",
    "not_running": "A ruling is for an unknown outcome only; this one is not unknown.",
}


def sentences(code: str) -> set[str]:
    """What refusals of this code say; a few say more precisely why, in a sentence of their own."""
    said = {OWN_SENTENCES.get(code) or catalogue()[code]["why"], MORE_PRECISE.get(code)}
    return {sentence for sentence in said if sentence}


@pytest.mark.parametrize("code", sorted(BY_API))
def test_the_api_refuses_with_it(scene: Scene, code: str) -> None:
    answer = BY_API[code](scene)
    status, told = problem(answer)
    assert told == code and (status, code) in {(catalogue()[code]["status"], code), (400, "too_large")}
    said = answer.json()["detail"]
    assert said in sentences(code) or code in SAID_BY_GATE, said


SAID_BY_GATE = {"tombstoned", "expired_content", "no_provenance", "inactive", "too_large", "rate_limited"}
"""What the gate refuses, it says in the words of the signal; limits and rates name what was passed."""


@pytest.mark.parametrize("code", sorted(BY_PAGE))
def test_the_page_refuses_with_it_and_the_same_sentence(scene: Scene, code: str) -> None:
    answer = BY_PAGE[code](scene)
    page = html.unescape(answer.content.decode())
    told = re.search(r'data-problem="([a-z_]+)"', page)
    assert told and told[1] == code
    assert (answer.status_code, code) in {(catalogue()[code]["status"], code), (400, "too_large")}
    assert any(said in page for said in sentences(code)) or code in {*SAID_BY_GATE, "not_found"}


def test_every_code_of_the_contract_has_a_maker() -> None:
    assert set(BY_API) >= CONTRACT_API and set(BY_PAGE) >= CONTRACT_PAGE


def test_every_refusal_about_a_proposal_has_a_maker() -> None:
    kinds = [kind for kind in vars(refusals).values() if isinstance(kind, type) and hasattr(kind, "code")]
    assert {kind.code for kind in kinds} <= set(BY_API) | set(BY_PAGE)
