"""What the log refuses. Nothing is written without its entry, so these stop the whole mutation."""

from __future__ import annotations

from typing import ClassVar

from huqan_site.lib.problems import Refusal


class Unavailable(Refusal):
    """Nothing can be written now: the database, the log or the witness file refused."""

    code, status, title = "unavailable", 503, "Not available now"
    detail = "Nothing was recorded: the console cannot write at the moment. Send the same again later."
    retry_after: ClassVar[int] = 5  # whole seconds, for Retry-After


class LogDisputed(Unavailable):
    """The log is shorter than the witness file says, or another one."""

    title = "Deciding is stopped"
    detail = (
        "Nothing was recorded: the audit log does not agree with its witness file, so nobody can decide "
        "or redeem. The operator has to look at it (manage.py verify_audit) before this can go on."
    )
    retry_after = 60
