from django.apps import AppConfig


class MemoryConfig(AppConfig):
    """What agents may remember, behind its own gate."""

    name = "memory"
