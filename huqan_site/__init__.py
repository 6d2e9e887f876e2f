"""The composition root of the Huqan review console."""

__version__ = "0.1.0"
