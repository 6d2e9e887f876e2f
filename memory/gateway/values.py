"""The keyed digests by which a value is known again."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

from django.conf import settings
from django.db.models import QuerySet

from huqan_site.lib.keyring import Keyring, UnusableKey
from memory.domain.labels import label_key
from memory.domain.normalise import key
from memory.models import Tombstone, ValueKey
from review.audit.refusals import Unavailable
from review.audit.statements import prepared

PURPOSE = "tombstone"


def keys_of(scope: UUID, content: str) -> list[ValueKey]:
    """Return the keys of `content` in this workspace, one for each retained secret, the current one first.

    Raises: Unavailable where a secret cannot be read, or one that keyed a tombstone is gone: without it a
    rejected value could come back unrecognised.
    """
    return keys_in(scope)(content)


def keys_in(scope: UUID) -> Callable[[str], list[ValueKey]]:
    """Return what gives the keys of a content, as `keys_of` does, with the secrets read once. Raises: Unavailable."""
    secrets = _secrets()
    if not secrets.keys() >= set(_keyed_by(scope)):
        raise Unavailable(
            "Nothing can be written to memory: a key that rejected values are known by is missing. "
            "The operator has to put the keys folder back."
        )
    newest_first = list(reversed(secrets.items()))
    return lambda content: [ValueKey(id_, key(scope, content, secret)) for id_, secret in newest_first]


def label_keys_in(scope: UUID) -> Callable[[str], list[str]]:
    """Return what gives the digests of a label in this workspace, as `keys_in` does of a content.

    Raises: Unavailable where a secret cannot be read.
    """
    newest_first = list(reversed(_secrets().values()))
    return lambda label: [label_key(scope, label, secret) for secret in newest_first]


@prepared
def _keyed_by(scope: UUID) -> QuerySet[Tombstone, str]:
    return Tombstone.objects.standing(scope).values_list("value_key_id", flat=True).distinct()


def _secrets() -> dict[str, bytes]:
    """Every retained secret by id, oldest first; one is made at first use."""
    ring = Keyring(settings.HUQAN_KEYS_DIR)
    try:
        return ring.secrets(PURPOSE) or dict([ring.secret(PURPOSE)])
    except (UnusableKey, OSError) as error:
        raise Unavailable("Nothing can be written to memory: the keys folder cannot be read.") from error
