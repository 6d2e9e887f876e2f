from django.apps import AppConfig


class ReviewConfig(AppConfig):
    """Proposals and decisions."""

    name = "review"

    def ready(self) -> None:
        from review import replay

        replay.register()
