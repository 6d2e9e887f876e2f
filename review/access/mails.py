"""Mail to people: plain text, to a stored address, and never inside a transaction.

A mail that cannot be sent fails nothing: who sends is told, and the log of the server has the kind of the
failure: never an address, a link or a text.
"""

from __future__ import annotations

import logging
from smtplib import SMTPException

import dj_email_url  # type: ignore[import-untyped]
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.mail.backends.base import BaseEmailBackend
from django.utils.module_loading import import_string

logger = logging.getLogger(__name__)
TIMEOUT = 10  # seconds
BY_A_PROGRAM = {"Auto-Submitted": "auto-generated"}


def can_send() -> bool:
    """Whether HUQAN_MAIL_URL says how mail leaves this console."""
    return bool(settings.HUQAN_MAIL_URL)


def send(address: str, subject: str, text: str) -> bool:
    """Send one mail, and say whether it left."""
    if not can_send() or not address:
        return False
    mail = EmailMessage(subject, text, settings.HUQAN_MAIL_FROM, [address], headers=BY_A_PROGRAM)
    try:
        return bool(_server().send_messages([mail]))
    except (SMTPException, OSError, ValueError) as failure:  # ValueError: a line break in a header
        logger.warning("A mail could not be sent: %s", type(failure).__name__)
        return False


def _server() -> BaseEmailBackend:
    told = dj_email_url.parse(settings.HUQAN_MAIL_URL)
    server: BaseEmailBackend = import_string(told["EMAIL_BACKEND"])(
        host=told["EMAIL_HOST"],
        port=told["EMAIL_PORT"],
        username=told["EMAIL_HOST_USER"] or "",
        password=told["EMAIL_HOST_PASSWORD"] or "",
        use_tls=told["EMAIL_USE_TLS"],
        use_ssl=told["EMAIL_USE_SSL"],
        timeout=TIMEOUT,
        file_path=told["EMAIL_FILE_PATH"],
    )
    return server
