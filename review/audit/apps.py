from django.apps import AppConfig
from django.db.backends.signals import connection_created
from django.db.models.signals import post_migrate


class AuditConfig(AppConfig):
    """The log of everything that was done here."""

    name = "review.audit"
    label = "audit"

    def ready(self) -> None:
        from review.audit import checks, schema, witness  # noqa: F401  importing `checks` registers it

        post_migrate.connect(schema.settle, sender=self)
        connection_created.connect(witness.compare_again)
