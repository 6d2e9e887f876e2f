from django.apps import AppConfig


class AccessConfig(AppConfig):
    """Who you are and where you may act."""

    name = "review.access"
    label = "access"

    def ready(self) -> None:
        """Have what was taken away kept outside, and roles and tokens verified; models can be imported only now."""
        from review.access import replay
        from review.access.services import withdrawals

        replay.register()
        withdrawals.register()
