"""The newest checkpoint, sent to whoever keeps it for us: whoever has it can show that the log was cut afterwards.

`HUQAN_CHECKPOINTS_TO` names addresses, `mailto:auditor@example.org` and `https://witness.example/checkpoints`. A note
is signed and says nothing but the log's size and root, so it takes no other secret. What was sent last is kept in the
cache: where that is lost, the newest is sent once more.
"""

from __future__ import annotations

import hashlib
import json
from datetime import datetime, timedelta

from django.conf import settings
from django.core.cache import cache
from django.utils import timezone
from django.utils.translation import gettext as _

from review.access import mails
from review.audit import checkpoints
from review.audit.chain import stamp
from review.audit.models import Checkpoint
from review.webhooks import sending

MAIL = "mailto:"
APART = {MAIL: timedelta(hours=1), "https://": timedelta(0), "http://": timedelta(0)}
AFTER_FAILURE = timedelta(minutes=1)


def send_checkpoints() -> int:
    """Send the newest checkpoint to each address that does not have it; return how many were sent.

    By mail one an hour at most: it is over everything that an earlier one was over.
    """
    newest = checkpoints.newest() if settings.HUQAN_CHECKPOINTS_TO else None
    if newest is None:
        return 0
    return sum(_send(newest, address, timezone.now()) for address in settings.HUQAN_CHECKPOINTS_TO)


def _send(newest: Checkpoint, address: str, now: datetime) -> bool:
    key = f"checkpoint-sent-{hashlib.sha256(address.encode()).hexdigest()}"
    size, not_before = cache.get(key, (0, ""))
    if newest.size <= size or stamp(now) < not_before:
        return False
    kind = next(kind for kind in APART if address.startswith(kind))
    sent = (_mail if kind == MAIL else _post)(newest, address)
    pause = APART[kind] if sent else AFTER_FAILURE
    cache.set(key, (newest.size if sent else size, stamp(now + pause)), timeout=None)
    return sent


def _mail(newest: Checkpoint, address: str) -> bool:
    subject = _("Checkpoint of the audit log: %(size)d entries") % {"size": newest.size}
    return mails.send(address.removeprefix(MAIL), subject, newest.note)


def _post(newest: Checkpoint, address: str) -> bool:
    data = {"size": newest.size, "note": newest.note}
    body = json.dumps({"type": "log.checkpoint", "timestamp": newest.stamp, "data": data})
    headers = {"Content-Type": "application/json", "User-Agent": "huqan"}
    return sending.post(address, body, headers).delivered
