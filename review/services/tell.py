"""Telling people, each as he chose: what needs him, and what became of what his agents asked for.

The worker asks the database what is new, so that no decision waits for it. A notice is put into the outbox, in
one transaction with the note that he was told; the outbox delivers it at least once.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import Exists, OuterRef, Q
from django.utils import timezone

from review.access import wording
from review.access.models import Ownership
from review.access.roles import Often
from review.audit.transaction import write
from review.domain.decision import Verdict
from review.domain.status import Status
from review.domain.telling import BREATH, is_due
from review.models import Decision, Proposal, ProposalQuerySet
from review.queries import queue
from review.queries.identity import identities
from review.services import notices
from review.services.notices import Notice
from review.webhooks import wishes
from review.webhooks.models import Webhook, Wish
from review.webhooks.outbox import enqueue, enqueue_mail
from review.webhooks.wishes import Item, Receiver

NEEDS = "needs_you"
OVERLAP = timedelta(minutes=10)  # what was begun before a look and committed after it is met by the next
QUIET = timedelta(hours=1)  # how far a look goes back at most where nothing came

#: The states with an end or a result that an owner is told of, by when they were reached.
BY_DECISION = tuple(set(notices.states()) - {Status.QUARANTINED, Status.CHANGES_REQUESTED})


def tell_people() -> int:
    """Put a notice for everybody who is due one and has news into the outbox; return how many those are."""
    now = timezone.now()
    return sum(_tell(wish, now) for wish in wishes.wishes() if _is_due(wish, now))


def _is_due(wish: Wish, now: datetime) -> bool:
    digest = (wish.hour, wish.zone) if wish.often == Often.DIGEST else None
    return is_due(now, told_until=wish.told_until, digest=digest)


def _tell(wish: Wish, now: datetime) -> bool:
    receivers = wishes.receivers(wish)
    if not receivers:
        return False
    found = _news(wish, now)
    items = wishes.untold(wish, found)
    if not items:
        _note_the_quiet(wish, now)
        return False
    with write():
        if not wishes.take(wish, items, now, now):
            return False
        notice = Notice(
            needs=[found[item] for item in items if item.what == NEEDS],
            outcomes=[found[item] for item in items if item.what != NEEDS],
        )
        for receiver in receivers:
            _put(receiver, notice, now)
    return True


def _put(receiver: Receiver, notice: Notice, now: datetime) -> None:
    if isinstance(receiver, Webhook):
        enqueue(receiver, notices.TYPE, notices.posted(notice), now)
    else:
        with wording.language_of(receiver):
            letter = notices.letter(notice)
        enqueue_mail(receiver, *letter, now)


def _note_the_quiet(wish: Wish, now: datetime) -> None:
    """Keep the next look from going far back. Who is told at once is due all the same."""
    if wish.often == Often.IMMEDIATE and now - wish.told_until < QUIET:
        return
    until = now - BREATH if wish.often == Often.IMMEDIATE else now
    with write():
        wishes.take(wish, [], until, now)


def _news(wish: Wish, now: datetime) -> dict[Item, Proposal]:
    """Return what he may not have heard of yet, at most COUNTED of each kind."""
    viewer, since = queue.Viewer(wish.person, now), wish.told_until - OVERLAP
    needs, outcomes = _needing(viewer, since), _ended(viewer, since)
    return {
        **{Item(row.id, row.revision, NEEDS): row for part in needs for row in _read(part)},
        **{Item(row.id, row.revision, str(row.status)): row for row in _read(outcomes)},
    }


def _read(rows: ProposalQuerySet) -> list[Proposal]:
    return list(rows.select_related("agent", "workspace").order_by("submitted_at")[: queue.COUNTED])


def _needing(viewer: queue.Viewer, since: datetime) -> list[ProposalQuerySet]:
    """What this very person can decide, by the rule of the queue; riskiest or held, it came after `since`."""
    held = queue.held(viewer).filter(viewer.can_decide)
    return [rows.filter(submitted_at__gt=since) for rows in (queue.in_view(viewer, queue.View.MINE), held)]


def _ended(viewer: queue.Viewer, since: datetime) -> ProposalQuerySet:
    """What became after `since` of proposals of the agents that he answers for, where he can read them."""
    himself = identities().all_of(viewer.person.id)
    running = Q(since__lte=viewer.now) & (Q(until__isnull=True) | Q(until__gt=viewer.now))
    agents = Ownership.objects.filter(running, person__in=himself).values_list("agent", flat=True)
    returned = Decision.objects.filter(
        proposal=OuterRef("pk"), verdict=Verdict.REQUEST_CHANGES, created_at__gt=since
    )
    news = (
        Q(status__in=BY_DECISION, decided_at__gt=since)
        | Q(status=Status.QUARANTINED, submitted_at__gt=since)
        | (Q(status=Status.CHANGES_REQUESTED) & Exists(returned))
    )
    places = [workspace.id for workspace in viewer.workspaces]
    return Proposal.objects.within(places).filter(news, agent__in=list(agents))
