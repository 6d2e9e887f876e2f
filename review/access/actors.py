"""Who acts. An actor is made from a credential, a session or a token, and from nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from review.access.models import Agent, AgentToken, Person, User
from review.audit.actors import AuditActor

ISSUER = "local"


@dataclass(frozen=True)
class PersonActor:
    """A signed-in person: the account, a reference to the session, and how and when it was opened."""

    person: Person
    user: User
    session: str
    methods: tuple[str, ...] = ()
    auth_time: datetime | None = None

    def audit(self) -> AuditActor:
        return AuditActor(
            kind="person",
            person=self.person.id,
            account=self.user.username,
            issuer=ISSUER,
            subject=str(self.user.id),
            session=self.session,
            methods=self.methods,
            auth_time=self.auth_time,
        )


@dataclass(frozen=True)
class AgentActor:
    """An agent, known by the token it sent."""

    agent: Agent
    token: AgentToken

    def audit(self) -> AuditActor:
        return AuditActor(
            kind="agent", account=self.agent.name, subject=str(self.agent.id), token=self.token.handle
        )


@dataclass(frozen=True)
class SystemActor:
    """The console itself: a command of the operator, the worker, the passing of time."""

    name: str = "console"

    def audit(self) -> AuditActor:
        return AuditActor(kind="system", account=self.name)


Actor = PersonActor | AgentActor | SystemActor
