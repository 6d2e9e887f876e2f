"""The agents' way to memory: they read what their workspace may recall, and nothing else."""
