"""The pure rules of deciding: no Django, no clock, no I/O. `now` is always an argument."""
