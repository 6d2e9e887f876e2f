"""Whatever is sent: refused in words or hung up on, never broken, never slow, nothing half done, and it goes on."""

from __future__ import annotations

import contextlib
import os
import re
import socket
import time

import pytest

from tests.faults.barrage import fire, whole
from tests.faults.house import House

SHOTS = int(os.environ.get("HOSTILE_SHOTS", "1000"))
SEED = int(os.environ.get("HOSTILE_SEED", "20817"))
MEGABYTE = 1024 * 1024


def must_work(house: House) -> None:
    """The control: what is good is taken, decided and redeemed."""
    proposal = house.proposed()
    assert house.alice.decide(proposal["id"]).status == 200
    assert house.redeem(proposal).status == 200


def test_a_thousand_hostile_requests_break_nothing_and_leave_nothing_half_done(house: House) -> None:
    before = house.rows("SELECT COUNT(*) FROM review_proposal")[0][0]
    print(f"HOSTILE_SEED={SEED} repeats this")
    volley = fire(house, SHOTS, SEED)
    assert not volley.faults, "\n".join(volley.faults[:20])
    assert not list(whole(house))
    proposed = house.rows("SELECT COUNT(*) FROM review_proposal")[0][0] - before
    assert volley.made > 0 and proposed == volley.made
    assert volley.grown < 32 * MEGABYTE
    must_work(house)


HOST = b"Host: localhost\r\n"
POST = b"POST /api/v1/proposals HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\n"
GET = b"GET /healthz HTTP/1.1\r\n"
GARBAGE = {
    "noise": bytes(range(256)) * 20 + b"\r\n\r\n",
    "zeros": b"\0" * 5000 + b"\r\n\r\n",
    "a TLS greeting": bytes.fromhex("16030100c8010000c40303") + b"\x01" * 200 + b"\r\n\r\n",
    "no version": b"GET /healthz\r\n\r\n",
    "a version that is none": b"GET /healthz HTTP/9.9\r\n" + HOST + b"\r\n",
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a method that is none": b"G\xffT /healthz HTTP/1.1\r\n" + HOST + b"\r\n",
    "an endless request line": b"GET /" + b"a" * 60_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "a zero in the path": b"GET /healthz\0 HTTP/1.1\r\n" + HOST + b"\r\n",
    "an address that is none": b"GET http://[::1 HTTP/1.1\r\n" + HOST + b"\r\n",
    "an endless header": GET + HOST + b"X: " + b"a" * 60_000 + b"\r\n\r\n",
    "a thousand headers": GET + HOST + b"X: y\r\n" * 1000 + b"\r\n",
    "a head without an end": GET + HOST + b"X: y\r\n" * 12_000,
    "a header without a name": GET + HOST + b": x\r\n\r\n",
    "a header without a colon": GET + HOST + b"nothing\r\n\r\n",
    "a header folded": GET + HOST + b"X: a\r\n b\r\n\r\n",
    "a header with a zero": GET + HOST + b"X: a\0b\r\n\r\n",
    "a line feed alone": GET + HOST + b"X: a\nY: b\r\n\r\n",
    "another host": GET + b"Host: evil.example\r\n\r\n",
    "a host that is none": GET + b"Host: a b:\xff\r\n\r\n",
    "two lengths": POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x",
    "a length that is none": POST + b"Content-Length: abc\r\n\r\n{}",
    "a length below zero": POST + b"Content-Length: -1\r\n\r\n{}",
    "a length with a sign": POST + b"Content-Length: +2\r\n\r\n{}",
    "an endless length": POST + b"Content-Length: " + b"9" * 400 + b"\r\n\r\n{}",
    "a length and chunks": POST + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "chunks that are none": POST + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk below zero": POST + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
    "an endless chunk": POST + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    "a chunk that is longer than it says": POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\n{}\r\n0\r\n\r\n",
    "a zero in a trailer": POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\nA: \0\r\n\r\n",
    "another coding": POST + b"Transfer-Encoding: gzip\r\n\r\n{}",
    "chunks twice": POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n",
    "chunks in HTTP/1.0": POST.replace(b"1.1", b"1.0") + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "an expectation that is none": POST + b"Expect: miracles\r\nContent-Length: 2\r\n\r\n{}",
    "a tunnel": b"CONNECT example.org:443 HTTP/1.1\r\n" + HOST + b"\r\n",
    "no token": POST + b"Content-Length: 2\r\n\r\n{}",
}


def said(house: House, raw: bytes, *, more_to_say: bool = False) -> bytes:
    """Send bytes and return all that comes back until the server hangs up."""
    with socket.create_connection(("127.0.0.1", house.port), timeout=20) as line:
        with contextlib.suppress(ConnectionError):
            line.sendall(raw)
            if not more_to_say:
                line.shutdown(socket.SHUT_WR)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while piece := line.recv(65_536):
                answer += piece
        return answer


@pytest.mark.parametrize("name", GARBAGE)
def test_what_is_no_request_is_refused_or_hung_up_on(house: House, name: str) -> None:
    answer = said(house, GARBAGE[name])
    assert answer == b"" or answer.startswith(b"HTTP/1.1 4"), answer[:200]
    assert said(house, GET + HOST + b"\r\n").startswith(b"HTTP/1.1 200")


def test_after_all_of_it_the_console_works_and_wrote_no_fault_into_its_log(house: House) -> None:
    started = house.log.stat().st_size
    for raw in GARBAGE.values():
        said(house, raw)
    assert "Traceback" not in house.log.read_text(errors="replace")[started:]
    must_work(house)


def body(house: House) -> bytes:
    return b'{"tool": "payments.refund", "arguments": {"order": "%d"}}' % time.monotonic_ns()


def post(house: House, *more: bytes) -> bytes:
    """The head of a request that proposes."""
    return POST + b"".join(
        line + b"\r\n" for line in (f"Authorization: Bearer {house.agent().token}".encode(), *more, b"")
    )


def test_a_body_in_chunks_is_read_like_any_other(house: House) -> None:
    sent = body(house)
    chunks = b"5\r\n%b\r\n%x;ext=1\r\n%b\r\n0\r\n\r\n" % (sent[:5], len(sent) - 5, sent[5:])
    assert said(house, post(house, b"Transfer-Encoding: chunked") + chunks).startswith(b"HTTP/1.1 201")
    large = b"%x\r\n%b\r\n0\r\n\r\n" % (300_000, b" " * 300_000)
    answer = said(house, post(house, b"Transfer-Encoding: chunked") + large)
    assert answer.startswith(b"HTTP/1.1 413") and b'"too_large"' in answer
    broken = said(house, post(house, b"Transfer-Encoding: chunked") + b"zz\r\n{}\r\n0\r\n\r\n")
    assert broken.startswith(b"HTTP/1.1 400") and b'"malformed"' in broken


def test_a_body_that_is_cut_short_is_not_read_as_if_it_were_whole(house: House) -> None:
    sent = body(house)
    assert said(house, post(house, b"Content-Length: %d" % (len(sent) + 1)) + sent) == b""
    cut = b"%x\r\n%b" % (len(sent) + 1, sent)
    assert not said(house, post(house, b"Transfer-Encoding: chunked") + cut).startswith(b"HTTP/1.1 2")


def test_requests_sent_together_are_answered_one_by_one(house: House) -> None:
    sent = body(house)
    one = post(house, b"Content-Length: %d" % len(sent)) + sent
    me = b"GET /api/v1/me HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n"
    answers = said(house, one + GET + HOST + b"\r\n" + me, more_to_say=True)
    assert re.findall(rb"HTTP/1\.1 (\d+)", answers) == [b"201", b"200", b"401"]


def test_who_asks_first_whether_to_send_is_told_to_go_on(house: House) -> None:
    sent = body(house)
    head = post(house, b"Expect: 100-continue", b"Connection: close", b"Content-Length: %d" % len(sent))
    with socket.create_connection(("127.0.0.1", house.port), timeout=20) as line:
        line.sendall(head)
        time.sleep(0.2)
        line.sendall(sent)
        answer = b""
        while piece := line.recv(65_536):
            answer += piece
    assert b"HTTP/1.1 201" in answer


def test_an_old_client_is_answered_and_hung_up_on(house: House) -> None:
    assert said(house, b"GET /healthz HTTP/1.0\r\n" + HOST + b"\r\n").startswith(b"HTTP/1.")
