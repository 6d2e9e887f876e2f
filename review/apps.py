from django.apps import AppConfig


class ReviewConfig(AppConfig):
    """Proposals and decisions."""

    name = "review"
