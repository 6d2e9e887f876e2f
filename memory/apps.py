"""What agents may remember, behind its own gate."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate, pre_migrate


class MemoryConfig(AppConfig):
    name = "memory"

    def ready(self) -> None:
        """Let verification look at memory and migrations end in a whole index; models can be imported only now."""
        from memory import recall_index
        from memory.gateway import withdrawn
        from memory.queries import replay

        replay.register()
        withdrawn.register()
        pre_migrate.connect(recall_index.stand_aside, sender=self)
        post_migrate.connect(recall_index.settle, sender=self)
