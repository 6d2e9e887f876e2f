"""gunicorn's threaded worker, with a thread only for requests that have arrived.

As it comes, each connection holds a thread from its first moment, so that a few dozen clients who send slowly, or
nothing, keep everybody else out. Here the worker's own loop collects what they send, and a thread gets the request
once it is whole. Whoever has not sent it in SECONDS is hung up on.
"""

from __future__ import annotations

import errno
import re
import selectors
import socket
import time
from functools import partial
from typing import Any

from gunicorn.http import get_parser
from gunicorn.workers.gthread import TConn, ThreadWorker

SECONDS = 10.0  # for a whole request to arrive
PIECE = 65_536  # bytes
LONGEST_HEAD = 65_536  # bytes; a longer one is gunicorn's to refuse
LARGEST_BODY = 1024 * 1024  # bytes; a larger one is refused by who is asked for it, before it is read
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[^\r\n]*chunked", re.IGNORECASE)
_LAST_CHUNK = re.compile(rb"\r\n0+[ \t]*(?:;[^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*(?:\r\n|$)", re.IGNORECASE)


class Worker(ThreadWorker):  # type: ignore[misc]  # gunicorn ships no types
    """Takes connections in, and hands each of their requests to a thread."""

    def accept(self, listener: socket.socket) -> None:
        """Take a connection in; it says something when it likes."""
        try:
            client, address = listener.accept()
        except OSError as error:
            if error.errno in (errno.EAGAIN, errno.EWOULDBLOCK, errno.ECONNABORTED):
                return
            raise
        self.nr_conns += 1
        self._listen(TConn(self.cfg, client, address, listener.getsockname()))

    def on_client_socket_readable(self, conn: Any, client: socket.socket) -> None:
        """A connection that was kept speaks again."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._listen(conn)
        self.on_pending_socket_readable(conn, client)

    def on_pending_socket_readable(self, conn: Any, client: socket.socket) -> None:
        """Take what has come; a whole request goes to a thread, and who left is let go."""
        piece = _piece(client)
        if piece is None:
            return
        conn.arrived += piece
        if piece and not is_whole(bytes(conn.arrived)):
            return
        self.poller.unregister(client)
        self.pending_conns.remove(conn)
        if piece:
            self._hand_over(conn)
        else:
            self.nr_conns -= 1
            conn.close()

    def _listen(self, conn: Any) -> None:
        conn.arrived = bytearray()
        conn.timeout = time.monotonic() + SECONDS
        self.pending_conns.append(conn)
        self.poller.register(conn.sock, selectors.EVENT_READ, partial(self.on_pending_socket_readable, conn))

    def _hand_over(self, conn: Any) -> None:
        conn.data_ready = conn.initialized = True
        if conn.parser is None:
            conn.parser = get_parser(self.cfg, Hurried(conn.sock), conn.client)
        conn.parser.unreader.sock.ends = time.monotonic() + SECONDS
        conn.parser.unreader.unread(bytes(conn.arrived))
        self.enqueue_req(conn)


class Hurried:
    """A socket whose rest of a request has to be there at `ends`: of a body that was too large to wait for."""

    def __init__(self, real: socket.socket) -> None:
        self._real, self.ends = real, 0.0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def recv(self, size: int) -> bytes:
        """Return what has come. Raises: ConnectionResetError, as for a client that left, once time is over."""
        self._real.settimeout(max(self.ends - time.monotonic(), 0.001))
        try:
            return self._real.recv(size)
        except TimeoutError:
            raise ConnectionResetError(errno.ECONNRESET, "The request did not arrive in time.") from None
        finally:
            self._real.settimeout(None)


def is_whole(arrived: bytes) -> bool:
    """Whether a thread can answer what has `arrived` without waiting for more."""
    end = arrived.find(b"\r\n\r\n")
    if end < 0:
        return len(arrived) > LONGEST_HEAD
    if _CHUNKED.search(arrived[: end + 2]):
        return len(arrived) - end > LARGEST_BODY or _LAST_CHUNK.search(arrived, end + 2) is not None
    length = _LENGTH.search(arrived[:end])
    expected = int(length[1]) if length else 0
    return expected > LARGEST_BODY or len(arrived) >= end + 4 + expected


def _piece(client: socket.socket) -> bytes | None:
    """Return what has come, empty where the client left, None where it was nothing after all."""
    try:
        return client.recv(PIECE)
    except BlockingIOError:
        return None
    except OSError:
        return b""
