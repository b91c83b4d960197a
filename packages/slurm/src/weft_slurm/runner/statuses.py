"""What Slurm, and the files of an attempt, say of it."""

from collections.abc import Mapping, Sequence
from signal import SIGTERM
from typing import Final

from weft.core.states import Phase, Reason
from weft.plugins.runners.remote import Status
from weft.plugins.runners.remote.black_nodes import told_avoided
from weft_slurm.runner.commands import Task
from weft_slurm.runner.folder import Marks

_REASONS: Final[Mapping[str, Reason]] = {
    "NODE_FAIL": Reason.LOST,
    "BOOT_FAIL": Reason.LOST,
    "LAUNCH_FAILED": Reason.LOST,
    "OUT_OF_MEMORY": Reason.OOM,
    "TIMEOUT": Reason.TIMEOUT,
    "PREEMPTED": Reason.PREEMPTED,
    "DEADLINE": Reason.DEADLINE,
}
"""What Slurm's states mean for an attempt that could not say itself how it ended."""
_WAITS_FOR: Final[Mapping[str, str]] = {
    "Resources": "the partition is full",
    "Priority": "jobs of others come first",
    "ReqNodeNotAvail": "its nodes are down or kept for others",
    "PartitionDown": "the partition takes no jobs",
    "JobHeldUser": "somebody holds it",
    "JobHeldAdmin": "an administrator holds it",
    "PartitionTimeLimit": "its time limit is longer than the partition's",
}
"""What Slurm's reasons mean that do not say it themselves, as `QOSMaxJobsPerUserLimit` does."""
WAITS: Final = frozenset({"PENDING", "CONFIGURING", "REQUEUED", "REQUEUE_HOLD", "REQUEUE_FED"})
_UNDECIDED: Final = frozenset({"RUNNING", "COMPLETING"})
_DECIDE_S: Final = 60.0
_SIGNALLED: Final = 128
"""A shell adds it to the number of the signal that ended a program. A program may exit with such a
code itself, so only attempts that somebody stopped are read like this.
"""


def waits(task: Task, avoided: Sequence[str]) -> str:
    """Return why a task waits, in Slurm's words and ours."""
    meaning = _WAITS_FOR.get(task.reason.partition(",")[0])
    reason = f"{task.reason} ({meaning})" if meaning else task.reason
    text = f"Slurm job {task.name}: {task.state}, {reason}".removesuffix(", None")
    return text + told_avoided(avoided)


def is_undecided(marks: Marks, task: Task | None) -> bool:
    """Say whether Slurm, or somebody there, has ended an attempt, and why is not known yet: while
    it cleans up, Slurm hides the state behind `COMPLETING`, and it was asked before the files
    were read.
    """
    is_told_to_end = marks.is_termed and not marks.is_stopped
    is_young = (marks.ended_s_ago or 0.0) < _DECIDE_S
    return is_told_to_end and is_young and task is not None and task.state in _UNDECIDED


def where_of(marks: Marks, task: Task | None) -> str:
    """Return which task an attempt is, on which node, and in which state."""
    number = f"{marks.task[0]}_{marks.task[1]}" if marks.task else task.name if task else "unknown"
    node = marks.node or (task.nodes if task else "")
    state = task.state if task else "not known"
    return f"Slurm job {number}{f' on {node}' if node else ''}: {state}"


def running(marks: Marks, task: Task | None) -> Status:
    """Return the status of what has not ended."""
    if marks.began_s_ago is None:
        return Status(Phase.QUEUED_REMOTE, message=where_of(marks, task))
    where = where_of(marks, task)
    return Status(Phase.EXECUTING, marks.began_s_ago, message=where, progress=marks.progress)


def ended(marks: Marks, ended_s_ago: float, task: Task | None) -> Status:
    """Return the end that the node has written, or ours of an attempt that did not begin."""
    if marks.task is None:
        return Status(Phase.COLLECTING, None, ended_s_ago, message="not begun in Slurm")
    state = "" if task is None else task.state
    reason = _REASONS.get(state)
    code, signal = marks.exit_code, None
    if state in WAITS and marks.is_termed and not marks.is_stopped:
        code, reason = None, Reason.PREEMPTED  # somebody has requeued it; weft decides on that
    elif marks.is_late:
        reason = Reason.TIMEOUT
    elif marks.trouble:
        reason = Reason.NO_PROGRAM if marks.trouble == "missing" else Reason.BAD_SPEC
    if (marks.is_stopped or state == "CANCELLED") and (code or 0) > _SIGNALLED:
        code, signal = None, (code or 0) - _SIGNALLED
    elif state == "CANCELLED" and code == 0 and not marks.is_stopped:
        # Slurm ended a child of its shell first, which then went on to a good end.
        code, signal = None, SIGTERM
    return Status(
        Phase.COLLECTING,
        marks.began_s_ago,
        ended_s_ago,
        exit_code=code,
        signal=signal,
        message=where_of(marks, task),
        reason=reason,
        node=marks.node,
        cpu_ms=marks.cpu_ms,
        progress=marks.progress,
    )


def over(marks: Marks, task: Task | None, gone_s: float) -> Status:
    """Return the end of an attempt that only Slurm can tell of. One that has begun, and that
    nobody asked to end, was cut off: its script would have told. Slurm may call it completed.
    """
    state = "" if task is None else task.state
    is_asked = marks.is_termed or marks.is_stopped
    is_cut_off = task is None or (marks.began_s_ago is not None and not is_asked)
    reason = _REASONS.get(state, Reason.LOST if is_cut_off else Reason.SYSTEM)
    if state in WAITS:
        reason = Reason.PREEMPTED
    return Status(
        Phase.COLLECTING,
        marks.began_s_ago,
        gone_s if marks.began_s_ago is None else min(gone_s, marks.began_s_ago),
        message=where_of(marks, task),
        reason=reason,
    )
