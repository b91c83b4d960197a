"""weft in virtual time: what a pool would have done with a recorded workload.

It runs the functions that decide in production (fair shares, sizes of claims, the autoscaler) on a
clock of its own. Must not need a database, a clock or a file.
"""

from weft_simulator.model.gates import QueueLimits
from weft_simulator.model.outcome import MachineTime, TraceOutcome
from weft_simulator.model.pool_run import JobNeverStarts, Options, check_sizes, run_pool
from weft_simulator.model.static import run_easy, run_fifo

__all__ = [
    "JobNeverStarts",
    "MachineTime",
    "Options",
    "QueueLimits",
    "TraceOutcome",
    "check_sizes",
    "run_easy",
    "run_fifo",
    "run_pool",
]
