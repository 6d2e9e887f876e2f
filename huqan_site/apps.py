from django.apps import AppConfig


class SiteConfig(AppConfig):
    """The composition root as an app, so that its templates, static files and commands are found."""

    name = "huqan_site"
    label = "site"
