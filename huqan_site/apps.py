from django.apps import AppConfig

from huqan_site import open_database


class SiteConfig(AppConfig):
    """The composition root as an app, so that its templates, static files and commands are found."""

    name = "huqan_site"
    label = "site"

    def ready(self) -> None:
        open_database.watch()
