"""When a request has arrived, so that a thread can answer it without waiting for its sender."""

from __future__ import annotations

import socket
import time

import pytest

from huqan_site.arrivals import LARGEST_BODY, LONGEST_HEAD, Hurried, is_whole

CHUNKS = b"POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\n\r\n"


@pytest.mark.parametrize(
    ("arrived", "whole"),
    [
        (b"", False),
        (b"GET / HTTP/1.1\r\nHost: h\r\n", False),
        (b"GET / HTTP/1.1\r\nHost: h\r\n\r\n", True),
        (POST + b"abc", False),
        (POST + b"abcd", True),
        (POST.replace(b"Content-Length: 4", b"CONTENT-length:\t4"), False),
        (POST.replace(b"4\r\n", b"%d\r\n" % LARGEST_BODY), False),
        (POST.replace(b"4\r\n", b"%d\r\n" % (LARGEST_BODY + 1)), True),
        (CHUNKS, False),
        (CHUNKS + b"2\r\n{}\r\n", False),
        (CHUNKS + b"2\r\n{}\r\n0\r\n", False),
        (CHUNKS + b"2\r\n{}\r\n0\r\n\r\n", True),
        (CHUNKS + b"0\r\n\r\n", True),
        (CHUNKS + b"2\r\n{}\r\n00;last\r\nTrailer: yes\r\n\r\n", True),
        (CHUNKS + b"x" * LARGEST_BODY, True),
        (b"x" * LONGEST_HEAD, False),
        (b"x" * (LONGEST_HEAD + 1), True),
    ],
)
def test_a_request_is_whole_with_its_head_and_as_much_body_as_it_announces(
    arrived: bytes, whole: bool
) -> None:
    assert is_whole(arrived) is whole


def test_a_length_inside_the_body_announces_nothing() -> None:
    assert is_whole(b"POST / HTTP/1.1\r\n\r\n\r\nContent-Length: 9\r\n")


def test_what_is_not_there_in_time_counts_as_a_client_that_left() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        hurried = Hurried(ours)
        hurried.ends = time.monotonic() + 0.05
        theirs.send(b"a")
        assert hurried.recv(10) == b"a"
        with pytest.raises(ConnectionResetError):
            hurried.recv(10)
        assert ours.gettimeout() is None
