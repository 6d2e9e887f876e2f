"""Why a webhook is not set up."""

from __future__ import annotations

from review.access.refusals import SetUpDeclined


class BadTarget(SetUpDeclined):
    """The detail says what about the address is wrong."""

    code, status, title = "bad_target", 422, "Not an address that is told"
    detail = "A webhook goes to a public https address."
    advice = "For a host inside your network the operator names it in HUQAN_WEBHOOK_HOSTS."


class AlreadyRegistered(SetUpDeclined):
    code, status, title = "already_registered", 409, "Already registered"
    detail = "An agent has one webhook for each address, and a person has one."
    advice = "Rotate its secret if you need a new one, or remove it first."


class TooManyWebhooks(SetUpDeclined):
    code, status, title = "too_many_webhooks", 409, "Too many webhooks"
    detail = "An agent has at most 5 webhooks."
    advice = "Remove one first."
