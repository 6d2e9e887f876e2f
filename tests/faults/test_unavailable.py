"""The database cannot serve: writing says so and when to come back, reading goes on, and nothing is left half done."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from uuid import UUID

import psycopg
import pytest

from tests.faults.house import House, at_once
from tests.support.console import Answer
from tests.support.visitor import Visitor, problem_of

Fault = Callable[[House], AbstractContextManager[None]]
FAULTS: dict[str, Fault] = {
    "read-only": House.read_only,
    "busy": House.busy,
    "hung": House.hung_writer,
    "full": House.full_disk,
}
ONLY_ON_SQLITE = ("hung", "full")


@pytest.fixture(params=FAULTS)
def fault(request: pytest.FixtureRequest, house: House) -> Fault:
    if house.cluster is not None and request.param in ONLY_ON_SQLITE:
        pytest.skip("PostgreSQL writes in programs of its own, which have their own queue.")
    return FAULTS[request.param]


def must_be_unavailable(api: Answer) -> None:
    assert (api.status, api.code) == (503, "unavailable"), api.body
    assert api.headers["Content-Type"] == "application/problem+json"
    assert int(api.headers["Retry-After"]) > 0


def must_be_an_unavailable_page(page: Answer) -> None:
    assert (page.status, problem_of(page)) == (503, "unavailable"), page.body[-3000:]
    assert int(page.headers["Retry-After"]) > 0


def test_writing_waits_for_better_times_and_reading_goes_on(house: House, fault: Fault) -> None:
    waiting, approved = house.proposed(), house.proposed()
    assert house.alice.decide(approved["id"]).status == 200
    ballot, path = house.alice.ballot(waiting["id"]), f"/proposals/{waiting['id']}/"
    with fault(house):
        refused, undecided, unredeemed = at_once(
            lambda: house.refund(key=waiting["id"], order=waiting["id"]),
            lambda: house.alice.cast(waiting["id"], ballot),
            lambda: house.redeem(approved),
        )
        read, shown, listed = at_once(
            lambda: house.agent().call("GET", f"/api/v1/proposals/{waiting['id']}"),
            lambda: house.carol.open(path),
            lambda: house.alice.open("/"),
        )
    must_be_unavailable(refused)
    must_be_unavailable(unredeemed)
    must_be_an_unavailable_page(undecided)
    assert (read.status, shown.status, listed.status) == (200, 200, 200)
    assert b"Checked against the ticket." in undecided.body  # what was typed is not lost
    nothing_was_done_and_all_of_it_works_again(house, waiting, approved, ballot)


def nothing_was_done_and_all_of_it_works_again(
    house: House, waiting: dict[str, str], approved: dict[str, str], ballot: dict[str, str]
) -> None:
    assert house.status(waiting) == "pending"
    assert house.refund(key=waiting["id"], order=waiting["id"]).status == 201
    assert house.redeem(approved).status == 200
    assert house.alice.cast(waiting["id"], ballot).status == 200
    assert house.status(waiting) == "approved"


def test_nobody_is_signed_in_unrecorded(house: House, fault: Fault) -> None:
    newcomer = Visitor(house, "dana")
    fields = {**newcomer.form("/accounts/login/", "login"), "login": "dana"}
    fields["password"] = house.password("dana")
    with fault(house):
        must_be_an_unavailable_page(newcomer.send("/accounts/login/", fields))
    newcomer.sign_in()


@pytest.mark.parametrize("disk", ["closed", "full"])
def test_a_witness_file_that_cannot_be_appended_to_stops_the_next_write(house: House, disk: str) -> None:
    if disk == "full" and house.cluster is None:
        pytest.skip("The database is on that disk too, and the decision itself is refused.")
    first, second = house.proposed(), house.proposed()
    ballots = [house.alice.ballot(one["id"]) for one in (first, second)]
    with house.witness_closed() if disk == "closed" else house.full_disk():
        stands = house.alice.cast(first["id"], ballots[0])
        stopped = house.alice.cast(second["id"], ballots[1])
        must_be_unavailable(house.refund())
        assert house.status(first) == "approved"
    assert stands.status == 200
    must_be_an_unavailable_page(stopped)
    assert house.alice.cast(second["id"], ballots[1]).status == 200


def test_a_witness_file_that_is_lost_and_cannot_be_made_again_stops_every_write(house: House) -> None:
    waiting = house.proposed()
    ballot = house.alice.ballot(waiting["id"])
    with house.witness_lost():
        must_be_unavailable(house.refund())
        must_be_an_unavailable_page(house.alice.cast(waiting["id"], ballot))
        assert house.status(waiting) == "pending"
    assert house.alice.cast(waiting["id"], ballot).status == 200
    assert house.witness.exists()


def test_a_database_that_is_gone_for_a_moment_is_there_again_without_a_restart(house: House) -> None:
    if house.cluster is None:
        pytest.skip("SQLite has no server that could go.")
    waiting = house.proposed()
    ballot = house.alice.ballot(waiting["id"])
    house.cluster.stop()
    gone = at_once(
        lambda: house.refund(key="gone", order="gone"),
        lambda: house.agent().call("GET", f"/api/v1/proposals/{waiting['id']}"),
        lambda: house.agent().call("GET", "/api/v1/me"),
    )
    pages = at_once(lambda: house.alice.cast(waiting["id"], ballot), lambda: house.alice.open("/"))
    house.cluster.start()
    for answer in gone:
        must_be_unavailable(answer)
    for page in pages:
        must_be_an_unavailable_page(page)
    assert house.refund(key="gone", order="gone").status == 201
    assert house.alice.cast(waiting["id"], ballot).status == 200


@pytest.mark.parametrize("done", [True, False], ids=["committed", "not committed"])
def test_whose_connection_is_ended_while_it_commits_asks_again_and_is_told(house: House, done: bool) -> None:
    if house.cluster is None:
        pytest.skip("SQLite commits in the program itself.")
    key = f"ended {done}"
    with house.commit_hangs(done=done), ThreadPoolExecutor(1) as agent:
        lost = agent.submit(house.refund, key=key, order=key)
        house.end_who_commits()
        must_be_unavailable(lost.result())
        made = house.rows(f"SELECT proposal_id FROM review_idempotencykey WHERE key = 'key:{key}'")
    assert len(made) == done
    again = house.refund(key=key, order=key)
    assert again.status == (200 if done else 201), again.body
    assert [UUID(again.json()["id"])] == [row[0] for row in made] or not done


def test_the_console_serves_as_a_role_that_can_unmake_nothing(house: House) -> None:
    if house.cluster is None:
        pytest.skip("SQLite has no roles.")
    printed = house.manage("doctor").stdout
    assert "superuser" not in printed and "owns the tables" not in printed
    with psycopg.connect(house.environ["HUQAN_DATABASE_URL"]) as serving:
        assert serving.execute("SELECT COUNT(*) > 0 FROM audit_entry").fetchone() == (True,)
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            serving.execute("DELETE FROM audit_entry")
    with (
        psycopg.connect(house.environ["HUQAN_DATABASE_OWNER_URL"]) as owner,
        pytest.raises(psycopg.errors.IntegrityConstraintViolation),
    ):
        owner.execute("DELETE FROM audit_entry")
