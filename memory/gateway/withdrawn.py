"""Rejected values and erasures, as `withdrawn.jsonl` keeps them, and putting them in force again in an older copy."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from uuid import UUID

from huqan_site.lib.canonical_json import JSON
from memory.gateway.erase import erase_again
from memory.models import Erasure, Tombstone
from review.access.actors import SystemActor
from review.access.models import Person, Workspace
from review.audit import log, withdrawn
from review.audit.actions import Action
from review.audit.chain import stamp
from review.audit.stretches import every
from review.audit.withdrawn import Line
from review.models import Proposal

CONSOLE = SystemActor("restore")


def register() -> None:
    """Have rejected values and erasures kept outside the database."""
    withdrawn.register("tombstone", _tombstones, _reject)
    withdrawn.register("lifted", _liftings, _lift)
    withdrawn.register("erasure", _erasures, _erase)


def _tombstones() -> Iterator[Line]:
    for row in every(Tombstone.objects.all()):
        yield {
            **_value(row, "tombstone", row.created_at),
            "proposal": _text(row.proposal_id),
            "person": _text(row.person_id),
        }


def _liftings() -> Iterator[Line]:
    for row in every(Tombstone.objects.filter(lifted_at__isnull=False)):
        assert row.lifted_at is not None, "asked for where it is there"
        yield _value(row, "lifted", row.lifted_at)


def _value(row: Tombstone, what: str, at: datetime) -> dict[str, JSON]:
    return {
        "v": 1,
        "what": what,
        "id": str(row.id),
        "time": stamp(at),
        "workspace": str(row.workspace_id),
        "value": row.value_key,
        "value_key": row.value_key_id,
    }


def _erasures() -> Iterator[Line]:
    for row in every(Erasure.objects.only("id", "workspace_id", "targets", "erased_at")):
        yield {
            "v": 1,
            "what": "erasure",
            "id": str(row.id),
            "time": stamp(row.erased_at),
            "workspace": str(row.workspace_id),
            "targets": row.targets,
        }


def _reject(line: Line) -> bool:
    """Make the tombstone again; without who made it, and of which proposal, where the older copy knows neither."""
    scope = UUID(str(line["workspace"]))
    value = {"value_key": line["value"], "value_key_id": line["value_key"]}
    same = Tombstone.objects.filter(workspace_id=scope, lifted_at__isnull=True, **value)
    unknown = not Workspace.objects.filter(id=scope).exists()
    if unknown or same.exists() or Tombstone.objects.filter(id=line["id"]).exists():
        return False
    tombstone = Tombstone.objects.create(
        id=line["id"],
        workspace_id=scope,
        proposal=Proposal.objects.filter(id=line["proposal"]).first() if line["proposal"] else None,
        person=Person.objects.filter(id=line["person"]).first() if line["person"] else None,
        created_at=_time(line),
        **value,
    )
    _note(Action.TOMBSTONE_CREATED, tombstone, {})
    return True


def _lift(line: Line) -> bool:
    tombstone = Tombstone.objects.filter(id=line["id"], lifted_at__isnull=True).first()
    if tombstone is None:
        return False
    tombstone.lifted_at = _time(line)
    tombstone.save(update_fields=["lifted_at"])
    _note(Action.TOMBSTONE_LIFTED, tombstone, {"lifted": True})
    return True


def _erase(line: Line) -> bool:
    scope, targets = UUID(str(line["workspace"])), line["targets"]
    if not isinstance(targets, dict) or not Workspace.objects.filter(id=scope).exists():
        return False
    return erase_again(UUID(str(line["id"])), scope, targets, _time(line), by=CONSOLE)


def _note(action: Action, tombstone: Tombstone, more: dict[str, JSON]) -> None:
    log.record(
        action,
        actor=CONSOLE.audit(),
        workspace=tombstone.workspace_id,
        object=log.ObjectRef("tombstone", tombstone.id),
        after={
            "value": tombstone.value_key,
            "value_key": tombstone.value_key_id,
            "put_back": True,
            **more,
        },
        proposal=tombstone.proposal_id,
    )


def _time(line: Line) -> datetime:
    return datetime.fromisoformat(str(line["time"]))


def _text(id_: UUID | None) -> str | None:
    return str(id_) if id_ else None
