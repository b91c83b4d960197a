"""The executor `nomad`: the job is a dispatched batch job of a Nomad cluster.

Its runner writes the job's script itself (`../runner/`); nothing is translated here.
"""


class NomadExecutor:
    """Say which runner runs these jobs."""

    runner = "nomad"
