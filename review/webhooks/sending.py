"""One POST to one receiver: to an address that was checked, bounded in time and size, and never further.

No proxy of the environment is asked and no redirect followed: both would lead where nobody checked.
"""

from __future__ import annotations

import http.client
import socket
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from threading import Timer
from typing import NamedTuple

from django.conf import settings
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import HTTPError

from review.webhooks import targets
from review.webhooks.refusals import BadTarget
from review.webhooks.targets import IPAddress, Target

STEP_SECONDS = 5.0  # to connect, and between two bytes
WHOLE_SECONDS = 10.0  # from the first byte sent to the last header read
_TIMED_OUT = "It did not answer in time."


class Answer(NamedTuple):
    """What a receiver answered: `status` is None where it did not; `words` say it; `retry_after` in seconds."""

    status: int | None
    words: str
    retry_after: int | None = None

    @property
    def delivered(self) -> bool:
        return self.status is not None and 200 <= self.status < 300

    @property
    def is_gone(self) -> bool:
        return self.status == 410


def post(url: str, body: str, headers: Mapping[str, str]) -> Answer:
    """Send `body` to `url`, whose host is resolved and checked anew, and return what came of it. Raises nothing."""
    allowed = settings.HUQAN_WEBHOOK_HOSTS
    try:
        target = targets.parse(url, allowed=allowed)
        addresses = targets.checked(target, allowed=allowed, resolve=targets.system_resolver)
    except BadTarget as refused:
        return Answer(None, refused.detail)
    line = (_PinnedTLS if target.scheme == "https" else _Pinned)(target, addresses)
    end = Timer(WHOLE_SECONDS, line.cut)
    end.daemon = True
    end.start()
    try:
        answer = _exchange(line, target, body, headers)
        return Answer(None, _TIMED_OUT) if line.was_cut else answer
    except (HTTPError, http.client.HTTPException, OSError) as failure:
        return Answer(None, _TIMED_OUT if line.was_cut else _in_words(failure))
    finally:
        end.cancel()
        line.close()


class _Pinned(HTTPConnection):
    """A connection to a name that goes to one of its checked `addresses`, and asks no resolver again."""

    def __init__(self, target: Target, addresses: Sequence[IPAddress]) -> None:
        super().__init__(target.name, target.port, timeout=STEP_SECONDS)
        self._addresses = addresses
        self._twin: socket.socket | None = None
        self.was_cut = False

    def _new_conn(self) -> socket.socket:
        sock = _connected(self._addresses, self.port)
        self._twin = sock.dup()
        return sock

    def cut(self) -> None:
        """End the exchange from another thread. TLS takes the socket over, so this goes by a twin of it."""
        self.was_cut = True
        if self._twin is not None:
            with suppress(OSError):
                self._twin.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        super().close()
        if self._twin is not None:
            self._twin.close()


class _PinnedTLS(_Pinned, HTTPSConnection):
    """The same with TLS: server name and certificate are those of the name, not of the address."""


def _connected(addresses: Sequence[IPAddress], port: int) -> socket.socket:
    for address in addresses[:-1]:
        with suppress(OSError):
            return socket.create_connection((str(address), port), STEP_SECONDS)
    return socket.create_connection((str(addresses[-1]), port), STEP_SECONDS)


def _exchange(line: _Pinned, target: Target, body: str, headers: Mapping[str, str]) -> Answer:
    said = {**headers, "Host": target.authority, "Connection": "close"}
    line.request("POST", target.path, body=body.encode(), headers=said, preload_content=False)
    answer = line.getresponse()  # its body is not read: nothing in it counts
    return Answer(
        answer.status, f"It answered {answer.status}.", _seconds(answer.headers.get("Retry-After", ""))
    )


def _seconds(retry_after: str) -> int | None:
    """Return what a Retry-After header asks for, in seconds from now; None where it says nothing usable."""
    if retry_after.isascii() and retry_after.isdigit():
        return int(retry_after[:9])
    try:
        at = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    return max(0, int((at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds()))


def _in_words(failure: Exception) -> str:
    if isinstance(failure, ssl.SSLError) or isinstance(failure.__cause__, ssl.SSLError):
        return "Its certificate is not valid for this name."
    if isinstance(failure, TimeoutError):
        return _TIMED_OUT
    if isinstance(failure, ConnectionRefusedError):
        return "Nothing listens there."
    return "The connection broke off."
