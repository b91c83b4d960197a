"""The executor `slurm`: the job runs on a cluster that Slurm manages.

Its runner writes the job's script itself (`../runner/`); nothing is translated here.
"""


class SlurmExecutor:
    """Say which runner runs these jobs."""

    runner = "slurm"
