"""What the address of the queue asks for, and the address that asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import StrEnum
from typing import Self
from urllib.parse import urlencode

from django.urls import reverse

from review.queries.queue import EVERYTHING, WAITING, Filters, Order, View

LONGEST = 200  # characters of a filter that are read


class Group(StrEnum):
    """What the rows of a page are put together by."""

    RUN = "run"
    ALIKE = "alike"


@dataclass(frozen=True)
class Asked:
    """A view with its filters, its order and its groups; the same in every address that leads to it."""

    view: View = View.MINE
    filters: Filters = EVERYTHING
    order: Order = Order.RISK
    group: Group | None = None

    @classmethod
    def of(cls, said: Mapping[str, str]) -> Self:
        """Read what an address or a form says; an unknown word is not an error of a person in a hurry."""
        view, order, group = said.get("view"), said.get("order"), said.get("group")
        texts = {
            field.name: said.get(_spelt(field.name), "").replace("\0", "")[:LONGEST]
            for field in fields(Filters)
        }
        texts["search"] = texts["search"].strip()
        return cls(
            View(view) if view in set(View) else View.MINE,
            Filters(**texts),
            Order(order) if order in set(Order) else Order.RISK,
            Group(group) if group in set(Group) else None,
        )

    @property
    def is_plain(self) -> bool:
        """Whether it asks for nothing but a view."""
        return self == Asked(self.view)

    def unfiltered(self) -> Self:
        return replace(self, filters=Filters())

    def words(self) -> dict[str, str]:
        """Return what has to be said to ask for it: nothing of what holds anyway."""
        said = {_spelt(field.name): getattr(self.filters, field.name) for field in fields(Filters)}
        said |= {
            "view": "" if self.view is View.MINE else self.view.value,
            "order": "" if self.order is Order.RISK or self.view not in WAITING else self.order.value,
            "group": self.group.value if self.group else "",
        }
        return {name: value for name, value in said.items() if value}

    @property
    def query(self) -> str:
        """The part of its address after the question mark."""
        return urlencode(self.words())

    def url(self, **more: str) -> str:
        query = urlencode({**self.words(), **more})
        return f"{reverse('queue')}?{query}" if query else reverse("queue")


def _spelt(name: str) -> str:
    """The name of a filter in the address."""
    return "q" if name == "search" else name
