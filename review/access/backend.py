"""Who is signed in, read with every page: allauth's way of signing in, one statement to read it again."""

from __future__ import annotations

from uuid import UUID

from allauth.account.auth_backends import AuthenticationBackend
from django.db.models import QuerySet

from review.access.models import User
from review.audit.statements import first, prepared


class AccountBackend(AuthenticationBackend):  # type: ignore[misc]  # allauth ships no types
    def get_user(self, user_id: UUID) -> User | None:
        """Return the account with its person; None where it is gone or disabled."""
        account = first(_account(user_id))
        return account if self.user_can_authenticate(account) else None


@prepared
def _account(id: UUID) -> QuerySet[User]:
    return User.objects.filter(pk=id).select_related("person")
