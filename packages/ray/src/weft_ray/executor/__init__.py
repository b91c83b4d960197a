"""The executor `ray`: the job is a job of a Ray cluster.

Its runner writes the job's script itself (`../runner/`); nothing is translated here.
"""


class RayExecutor:
    """Say which runner runs these jobs."""

    runner = "ray"
