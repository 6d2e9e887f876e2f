"""The OpenAPI document against the calls it describes: what it allows is taken, what it does not is refused, and
every answer is one that it names, with the headers, the media type and the members it promises."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections
from hypothesis import HealthCheck, settings
from schemathesis.config import SchemathesisConfig
from schemathesis.core import NOT_SET

from huqan_site.wsgi import application
from tests.support import factories
from tests.support.memory_acts import known
from tests.support.review_acts import call, vote

pytestmark = [pytest.mark.django_db, pytest.mark.slow]
SEED = 20817
CONFIG = {
    "seed": SEED,
    "generation": {
        "max-examples": 25,
        "database": "none",
        # JSON Schema has no short word for a string without U+0000; test_door.py has those bodies.
        "allow-x00": False,
    },
    # All checks are on but max_response_time: one measurement on a busy machine says nothing. tests/faults/barrage.py
    # measures each answer, and a slow one twice.
    "checks": {
        # What no schema can say is refused with these too; `refused_for_a_reason` looks at which it was.
        "positive_data_acceptance": {
            "expected-statuses": ["2xx", "304", "400", "403", "404", "409", "422"],
        },
        # What breaks a maxLength by very much is too large before it is anything else.
        "negative_data_rejection": {
            "expected-statuses": [
                "400",
                "401",
                "403",
                "404",
                "405",
                "406",
                "409",
                "413",
                "415",
                "422",
                "429",
            ],
        },
    },
}
DOCUMENT = schemathesis.openapi.from_wsgi(
    "/api/v1/openapi.json",
    application,
    base_url="http://127.0.0.1",
    config=SchemathesisConfig.from_dict(CONFIG),
)
ONCE = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=25,
    derandomize=True,
)

# What depends on other requests, people and rules, so that the shape of a request does not decide it.
REASONS = {"bad_cursor", "bad_permit", "key_reused", "not_delegated", "no_provenance", "unsatisfiable"}
# Of single members: no such day, a blank query where words are asked for, a tool that this console does not have.
FIELD_REASONS = {"time", "blank", "unavailable"}


@schemathesis.check
def refused_for_a_reason(context: Any, response: Any, case: Any) -> None:
    """A request that the document allows is refused for nothing that the document could have said."""
    if (
        case.meta is None
        or not case.meta.generation.mode.is_positive
        or response.status_code not in (400, 422)
    ):
        return
    problem = response.json()
    if problem["code"] in REASONS:
        return
    assert problem["code"] == "invalid", problem
    for error in problem["errors"]:
        assert error["code"] in FIELD_REASONS or error["pointer"].startswith("/arguments"), problem


class Agent:
    """scout, with proposals and a record to ask for by their ids."""

    def __init__(self) -> None:
        self.team = factories.team()
        self.record = str(known(self.team.scout, "The staging port is 7443.", self.team.alice).id)
        self.headers = {"Authorization": factories.bearer(self.team.scout)["HTTP_AUTHORIZATION"]}

    def pending(self) -> str:
        return str(call(self.team.scout).id)

    def approved(self) -> str:
        return str(vote(self.team.alice, call(self.team.scout)).proposal.id)

    def call(self, case: Any) -> Any:
        """Send `case`, with every check; each second one is about something that is there."""
        if case.path_parameters and case.meta.generation.mode.is_positive and len(str(case.body)) % 2:
            case.path_parameters.update(self._there(case.operation.path))
        return case.call_and_validate(headers=self.headers)

    def _there(self, path: str) -> dict[str, str]:
        if "record" in path:
            return {"record_id": self.record}
        return {"id": self.approved() if path.endswith(("redeem", "outcome")) else self.pending()}


@pytest.fixture
def agent(db: None, settings: Any) -> Iterator[Agent]:
    settings.HUQAN_RATE_PER_MINUTE = settings.HUQAN_MAX_OPEN_PROPOSALS = 10**6
    # A test's transaction would be closed with the request; Django's own test client does the same.
    for signal in (request_started, request_finished):
        signal.disconnect(close_old_connections)
    yield Agent()
    for signal in (request_started, request_finished):
        signal.connect(close_old_connections)


@DOCUMENT.parametrize()
@ONCE
def test_every_call_does_what_the_document_says(case: Any, agent: Agent) -> None:
    agent.call(case)


def test_agents_in_any_order_of_calls_find_what_the_document_says(agent: Agent) -> None:
    """What one call gives (an id, a revision, a binding) goes into the next, in runs of a few steps."""

    class Steps(DOCUMENT.as_state_machine()):  # type: ignore[misc]  # made at run time
        def get_call_kwargs(self, case: Any) -> dict[str, Any]:
            return {"headers": agent.headers}

        def validate_response(self, response: Any, case: Any, *_: Any, **sent: Any) -> None:
            # Told of the headers, it does not take our token for one that it made up.
            case.validate_response(
                response, headers=agent.headers, transport_kwargs=sent, recorder=self.recorder
            )

    Steps.run(
        settings=settings(
            ONCE,
            max_examples=8,
            stateful_step_count=6,
            suppress_health_check=list(HealthCheck),
            derandomize=True,
        )
    )


def send(
    agent: Agent, method: str, path: str, of: str | None = None, body: Any = None, **headers: str
) -> Any:
    """Send one call that is known to be answered well, and hold its answer against the document."""
    name = "record_id" if "record_id" in path else "id"
    case = DOCUMENT[f"/api/v1{path}"][method].Case(
        path_parameters={name: of} if of else None,
        body=NOT_SET if body is None else body,
        headers={**agent.headers, **headers},
        media_type=None if body is None else "application/json",
    )
    return case.call_and_validate()


def test_each_good_answer_is_as_the_document_says(agent: Agent) -> None:
    arguments = {"order": uuid4().hex}
    asked = {"tool": "payments.refund", "arguments": arguments}
    key = {"Idempotency-Key": "a key", "Prefer": "wait=0"}
    made = send(agent, "POST", "/proposals", body=asked, **key)
    again = send(agent, "POST", "/proposals", body=asked, **key)
    assert (made.status_code, again.status_code) == (201, 200)
    made_id = made.json()["id"]
    shown = send(agent, "GET", "/proposals/{id}", made_id)
    tag = {"If-None-Match": shown.headers["etag"][0]}
    assert send(agent, "GET", "/proposals/{id}", made_id, **tag).status_code == 304
    revised = {"revision": 1, "arguments": {**arguments, "amount": 3.0}}
    assert send(agent, "POST", "/proposals/{id}/revisions", made_id, revised).status_code == 201
    assert send(agent, "POST", "/proposals/{id}/withdraw", made_id).json()["status"] == "withdrawn"
    for path in ("/me", "/proposals"):
        assert send(agent, "GET", path).status_code == 200
    assert send(agent, "GET", "/memory/records/{record_id}", agent.record).status_code == 200
    for path in ("/memory/query", "/memory/context"):
        assert send(agent, "POST", path, body={"query": "staging port", "limit": 3.0}).json()["items"]


def test_each_good_answer_of_a_permit_is_as_the_document_says(agent: Agent) -> None:
    proposal, arguments = agent.approved(), {"order": "20817"}
    given = send(agent, "POST", "/proposals/{id}/redeem", proposal, {"arguments": arguments}).json()
    spent = {"permit": given["permit"], "arguments": arguments}
    assert send(agent, "POST", "/permits/redeem", body=spent).json()["jti"] == given["jti"]
    outcome = {"result": "succeeded", "jti": given["jti"], "detail": None}
    told = send(agent, "POST", "/proposals/{id}/outcome", proposal, outcome)
    assert told.json()["status"] == "succeeded"
