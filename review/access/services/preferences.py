"""How one's own pages are: their language, and whether they answer to single keys. Nobody else's change.

Neither changes what may be done or what is proved, so the log has no entry of them.
"""

from __future__ import annotations

from review.access.actors import PersonActor
from review.access.models import User
from review.access.roles import Language
from review.audit.transaction import write


def choose_language(language: Language, *, by: PersonActor) -> None:
    """Have the pages and mails of this account in `language`, wherever it signs in."""
    with write():
        User.objects.filter(id=by.user.id).update(language=language)


def choose_keys(on: bool, *, by: PersonActor) -> None:
    """Have the pages of this account answer to single keys, or not."""
    with write():
        User.objects.filter(id=by.user.id).update(keys=on)
