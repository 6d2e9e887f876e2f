"""What agents may remember, behind its own gate."""

from django.apps import AppConfig


class MemoryConfig(AppConfig):
    name = "memory"

    def ready(self) -> None:
        """Let verification look at memory; imported here, since models can be only now."""
        from memory.queries import replay

        replay.register()
