from django.apps import AppConfig


class AccessConfig(AppConfig):
    """Who you are and where you may act."""

    name = "review.access"
    label = "access"
