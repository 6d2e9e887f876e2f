from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Telling agents what became of what they proposed."""

    name = "review.webhooks"
    label = "webhooks"
