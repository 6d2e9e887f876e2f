"""Pages as a signed-in person gets them, without a server between."""

from __future__ import annotations

from typing import Any

from django.test import Client


def browser(who: Any) -> Client:
    """Return a client in which `who` (a PersonActor) is signed in, in a session of its own."""
    client = Client()
    client.force_login(who.user)
    return client
