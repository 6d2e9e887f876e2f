from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Telling agents what became of what they proposed, and people what concerns them."""

    name = "review.webhooks"
    label = "webhooks"
