"""The one writer of the log: an entry in the same transaction as what it tells of."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.transaction import on_commit
from django.utils import timezone

from huqan_site import __version__
from huqan_site.lib.canonical_json import JSON
from review.audit import chain, checkpoints, transaction, withdrawn
from review.audit.actions import ANCHORED, DECISIVE, Action
from review.audit.actors import SYSTEM, AuditActor
from review.audit.index import columns
from review.audit.models import Entry, Head, PrivateText
from review.audit.refusals import LogDisputed, Unavailable
from review.audit.request_context import current_request_id
from review.audit.statements import insert
from review.audit.withdrawn import WITHDRAWING
from review.audit.witness import Standing


class ObjectRef(NamedTuple):
    """What was acted on: ("proposal", its id, its revision), ("record", its id)."""

    type: str
    id: UUID | str
    revision: int | None = None

    def members(self) -> dict[str, JSON]:
        return {"type": self.type, "id": str(self.id), "revision": self.revision}


def record(
    action: Action,
    *,
    actor: AuditActor,
    workspace: UUID | None = None,
    object: ObjectRef | None = None,
    binding: str | None = None,
    shown: str | None = None,
    decision: str | None = None,
    before: Mapping[str, JSON] | None = None,
    after: Mapping[str, JSON] | None = None,
    policy: str | None = None,
    risk: str | None = None,
    conflict_set: Iterable[UUID] | None = None,
    on_behalf_of: UUID | None = None,
    private: Mapping[str, str] | None = None,
    proposal: UUID | None = None,
    agent: UUID | None = None,
    tool: str | None = None,
) -> Entry:
    """Append one entry to the log within the open write(), and return it.

    `before` and `after` hold ids, states and digests, never content: what a person or an agent wrote goes
    into `private`, by name, where it can be erased, and the entry keeps a salted digest of it. `proposal`,
    `agent` and `tool` are what the log is filtered by; they become members of `after`, unless actor and
    object say the same already.
    Locks the log's head until the end of the transaction, so call it after every other lock is taken.

    Raises: Unavailable where the entry cannot be written; LogDisputed for a decision or permit while log and
            witness file disagree; RuntimeError outside write().
    """
    write = _open_write()
    if write.standing is Standing.DISPUTED and action in DECISIVE:
        raise LogDisputed
    texts = [_Private.seal(name, text) for name, text in (private or {}).items() if text]
    facts = {"proposal": proposal, "agent": agent, "tool": tool}
    entry = _append(
        {
            "actor": actor.members(),
            "on_behalf_of": _text(on_behalf_of),
            "action": action.value,
            "workspace": _text(workspace),
            "object": object.members() if object else None,
            "binding": binding,
            "shown": shown,
            "decision": decision,
            "before": before,
            "after": _with_facts(after, facts, actor, object),
            "policy": policy,
            "risk": risk,
            "conflict_set": sorted(str(person) for person in conflict_set or ()),
            "request_id": current_request_id(),
            "app_version": __version__,
            "private": {text.name: text.commitment for text in texts},
        },
        texts,
    )
    write.grew = True
    write.owes_checkpoint |= action in ANCHORED
    if action in WITHDRAWING and not write.withdraws:
        write.withdraws = True
        on_commit(withdrawn.catch_up)
    return entry


def take_turn() -> datetime:
    """Let nobody else record until the open write() ends, and return what the time is then.

    What is read from here on stays as it is: for a use case whose rule reads before it records. Who waited for
    others asks with this time, since a right that ended meanwhile still held at the time he came. It is the lock
    that recording takes, so it, too, comes after every other one.

    Raises: Unavailable; RuntimeError outside write().
    """
    _open_write()
    try:
        _locked_head()
    except DatabaseError as error:
        raise Unavailable from error
    return timezone.now()


def begin() -> None:
    """Open the log of this installation with its first entry, unless there is one."""
    with transaction.write():
        if not Head.objects.exists():
            Head.objects.create(
                log=settings.HUQAN_LOG_NAME, size=0, leaf=chain.GENESIS, frontier="[]", time=""
            )
            record(Action.LOG_CREATED, actor=SYSTEM, after={"kid": checkpoints.signing_kid()})


def erase_private_texts(entries: Iterable[int]) -> int:
    """Erase what people wrote for these entries, salts included; return how many texts.

    The entries stay as they are, and so does the proof that something was written.

    Raises: RuntimeError outside write().
    """
    _open_write()
    return PrivateText.objects.filter(seq__in=list(entries), text__isnull=False).update(text=None, salt=None)


def _open_write() -> transaction.Write:
    write = transaction.current()
    if write is None:
        raise RuntimeError("The log is written inside write(), together with what it tells of.")
    return write


def is_disputed() -> bool:
    """Whether the open write() began while log and witness file disagreed. Raises: RuntimeError outside write()."""
    return _open_write().standing is Standing.DISPUTED


def adopt(adopted: checkpoints.Adopted) -> None:
    """Let the open write() end with a checkpoint of the log as it then is, whatever the witness file knows.

    Raises: RuntimeError outside write().
    """
    _open_write().adopted = adopted


def sign_checkpoint() -> str:
    """Sign the log as it is now, unless that is done, publish it, and return the newest note.

    For the operator, and for whoever stops the console: what was not anchored yet is anchored then.

    Raises: Unavailable.
    """
    with transaction.write():
        take_turn()
        write = _open_write()
        write.grew = write.owes_checkpoint = True
    newest = checkpoints.newest()
    return newest.note if newest else ""


def sign_overdue() -> int:
    """Sign the log where its last entry has waited for a checkpoint as long as one may; return how many were signed.

    For the worker: whoever appends next would do it too, and there may be nobody for hours.

    Raises: Unavailable.
    """
    if not checkpoints.is_overdue():
        return 0
    before = checkpoints.newest()
    return int(sign_checkpoint() != (before.note if before else ""))


class _Private(NamedTuple):
    name: str
    text: str
    salt: bytes

    @classmethod
    def seal(cls, name: str, text: str) -> _Private:
        return cls(name, text, secrets.token_bytes(chain.SALT_BYTES))

    @property
    def commitment(self) -> str:
        return chain.commitment(self.text, self.salt)


def _text(value: UUID | None) -> str | None:
    return None if value is None else str(value)


def _with_facts(
    after: Mapping[str, JSON] | None, facts: Mapping[str, Any], actor: AuditActor, object_: ObjectRef | None
) -> dict[str, JSON]:
    """`after` with each fact that neither actor nor object states."""
    stated = {
        "agent": actor.subject if actor.kind == "agent" else None,
        "proposal": str(object_.id) if object_ and object_.type == "proposal" else None,
    }
    new = {name: str(fact) for name, fact in facts.items() if fact and str(fact) != stated.get(name)}
    return {**(after or {}), **new}


def _append(members: dict[str, JSON], texts: list[_Private]) -> Entry:
    try:
        head = _locked_head()
        entry, frontier = _next(head, members)
        insert(entry)
        _move_head(entry, frontier)
        if texts:
            PrivateText.objects.bulk_create(
                PrivateText(seq=entry.seq, name=text.name, salt=text.salt, text=text.text) for text in texts
            )
    except DatabaseError as error:
        raise Unavailable from error
    return entry


class _Head(NamedTuple):
    log: str
    size: int
    leaf: str
    frontier: str
    time: str


def _locked_head() -> _Head:
    lock = " FOR UPDATE" if connection.features.has_select_for_update else ""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT log, size, leaf, frontier, time FROM audit_head{lock}")
        row = cursor.fetchone()
    if row is None:
        raise Unavailable("Nothing was recorded: this installation has no audit log. Run manage.py migrate.")
    return _Head(*row)


def _next(head: _Head, members: dict[str, JSON]) -> tuple[Entry, chain.Frontier]:
    """The entry that follows `head`, with the tree that holds it."""
    time = max(chain.stamp(timezone.now()), head.time)
    place: dict[str, JSON] = {
        "v": chain.VERSION,
        "log": head.log,
        "seq": head.size,
        "prev": head.leaf,
        "time": time,
    }
    text = chain.entry_text({**members, **place})
    leaf = chain.leaf_of(text)
    growth = chain.Frontier.read(head.size, head.frontier).append(leaf)
    entry = Entry(
        seq=head.size,
        canonical=text,
        prev=head.leaf,
        leaf=leaf.hex(),
        subtrees="".join(node.hex() for node in growth.completed),
        stamp=time,
        **columns(members)._asdict(),
    )
    return entry, growth.frontier


def _move_head(entry: Entry, frontier: chain.Frontier) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE audit_head SET size = %s, leaf = %s, frontier = %s, time = %s",
            [frontier.size, entry.leaf, frontier.text(), entry.stamp],
        )
