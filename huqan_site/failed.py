"""Why a backup or a restore came to nothing."""


class Failed(Exception):
    """A sentence that says why, and what to do."""
