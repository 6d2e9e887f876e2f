"""What a line of a file rests on: memories where it comes from have other ids than the same memories here."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from memory.domain.lines import Line
from memory.gateway.values import keys_of
from memory.queries import admission
from memory.queries.lineage import sources_of


class NotHereYet(Exception):
    """What a line rests on stands in this `line` of the file, and is not remembered here."""

    def __init__(self, line: int) -> None:
        self.line = line
        super().__init__(line)


class Told:
    """The memories that a file tells of, by their ids where it comes from."""

    def __init__(self, lines: Iterable[Line]) -> None:
        self._lines = {UUID(line.id): line for line in lines if line.id}

    def at_home(self, line: Line, scope: UUID) -> Line:
        """Return `line` with the ids that its sources have in the workspace `scope`: those of the same values there.

        What the file does not tell of keeps its id, and is for the gate to know. Raises: NotHereYet.
        """
        named = sources_of(line.arguments.get("provenance"))
        if not named:
            return line
        here = dict.fromkeys(str(self._here(source, scope)) for source in named)
        provenance = {**line.arguments["provenance"], "derived_from": list(here)}
        arguments: Mapping[str, Any] = {**line.arguments, "provenance": provenance}
        return line._replace(arguments=arguments)

    def _here(self, source: UUID, scope: UUID) -> UUID:
        told = self._lines.get(source)
        if told is None:
            return source
        if twin := admission.twin(scope, keys_of(scope, told.arguments["content"])):
            return twin.id
        if admission.record(scope, source):
            return source
        raise NotHereYet(told.number)
