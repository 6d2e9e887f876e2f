"""One notice to one person: which proposals need him or have news, and where they stand. Never what they say.

What has left the house cannot be erased any more, so no argument, summary or reason is in it, and no address
that decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from huqan_site.lib.canonical_json import JSON
from review.domain.status import Status
from review.models import Proposal

NAMED = 20  # of each kind; the rest is counted
TYPE = "person.notice"


class Notice(NamedTuple):
    """What is told at once: what needs the reader, and what became of what his agents asked for."""

    needs: Sequence[Proposal]
    outcomes: Sequence[Proposal]


def posted(notice: Notice) -> dict[str, JSON]:
    """Return what a webhook is told."""
    return {
        "needs_you": len(notice.needs),
        "outcomes": len(notice.outcomes),
        "proposals": [_member(row, needs=True) for row in notice.needs[:NAMED]]
        + [_member(row, needs=False) for row in notice.outcomes[:NAMED]],
    }


def letter(notice: Notice) -> tuple[str, str]:
    """Return subject and text of a mail."""
    needs, outcomes = len(notice.needs), len(notice.outcomes)
    titles = [
        ngettext("%(count)d needs you", "%(count)d need you", needs) % {"count": needs},
        ngettext("%(count)d of your agents' has news", "%(count)d of your agents' have news", outcomes)
        % {"count": outcomes},
    ]
    parts = [
        _part(title, rows)
        for title, rows in zip(
            titles, ([*map(_needing, notice.needs)], [*map(_ended, notice.outcomes)]), strict=True
        )
        if rows
    ]
    said = _("You choose how you are told at %(page)s") % {"page": _address("notices")}
    return titles[0] if needs else titles[1], "\n\n".join([*parts, said]) + "\n"


def _part(title: str, rows: Sequence[str]) -> str:
    left = len(rows) - NAMED
    more = (
        [_("And %(count)d more: %(page)s") % {"count": left, "page": _address("queue")}] if left > 0 else []
    )
    return "\n\n".join([f"{title}.", *rows[:NAMED], *more])


def _needing(row: Proposal) -> str:
    if row.status == Status.QUARANTINED:
        return _("%(call)s, held") % {"call": _call(row)} + f"\n{_page(row)}"
    return f"{_call(row)}\n{_page(row)}"


def _ended(row: Proposal) -> str:
    return f"{_call(row)}: {states()[Status(row.status)]}\n{_page(row)}"


def _call(row: Proposal) -> str:
    """Name a proposal by what was checked to be a plain name: tool, agent and workspace."""
    if row.agent is None:
        return _("%(tool)s in %(workspace)s") % {"tool": row.tool, "workspace": row.workspace.name}
    names = {"tool": row.tool, "agent": row.agent.name, "workspace": row.workspace.name}
    return _("%(tool)s of %(agent)s in %(workspace)s") % names


def states() -> dict[Status, str]:
    """Return the states that an owner is told of, as a mail says them."""
    return {
        Status.APPROVED: _("approved"),
        Status.EXECUTED: _("approved and done"),
        Status.REJECTED: _("rejected"),
        Status.CHANGES_REQUESTED: _("changes requested"),
        Status.EXPIRED: _("expired"),
        Status.SUCCEEDED: _("it succeeded"),
        Status.FAILED: _("it failed"),
        Status.UNKNOWN: _("nobody reported how it ended"),
        Status.QUARANTINED: _("held"),
    }


def _member(row: Proposal, *, needs: bool) -> dict[str, JSON]:
    return {
        "proposal": str(row.id),
        "revision": row.revision,
        "status": str(row.status),
        "tool": row.tool,
        "agent": row.agent.name if row.agent else None,
        "workspace": row.workspace.name,
        "risk": row.risk,
        "needs_you": needs,
        "url": _page(row),
    }


def _page(row: Proposal) -> str:
    return _address("proposal", row.id)


def _address(name: str, *parts: object) -> str:
    return f"{settings.HUQAN_BASE_URL}{reverse(name, args=parts)}"
