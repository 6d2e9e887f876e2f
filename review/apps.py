from django.apps import AppConfig


class ReviewConfig(AppConfig):
    """Proposals and decisions."""

    name = "review"

    def ready(self) -> None:
        """Tell the apps below what they cannot know; imported here, since models can be only now."""
        from review import replay
        from review.access.services.agents import when_stopped
        from review.access.staffing import asks_for_people
        from review.queries.staffing import empty_groups, undecidable_agents
        from review.services.withdraw import withdraw_open

        replay.register()
        when_stopped(withdraw_open)
        asks_for_people(empty_groups)
        asks_for_people(undecidable_agents)
