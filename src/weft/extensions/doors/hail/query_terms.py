"""What only Hail's clients ask of jobs and batches, in SQL."""

from typing import Final

from weft.core.query.tree import DoorTerm, Node, Operator, Or, StateTerm

_MEMORY_OF_CORE: Final = """EXISTS (
    SELECT FROM weft.shape h
    WHERE h.shape_id = j.shape_id AND h.memory_mib {operator} ceil({{0}} * h.cpu_m / 1000)
    OFFSET 0)"""
"""Reserved memory is in whole MiB, rounded up."""
_WAS_CANCELLED: Final = """EXISTS (
    SELECT FROM weft.group_cancel g WHERE g.batch_id = b.batch_id AND g.group_id = 0)"""


def in_group(group_id: int) -> Node:
    """Return that a job is in this tree group itself, not in one below it."""
    return DoorTerm("j.group_id = {0}", (group_id,))


def has_memory_of_core(operator: Operator, mib: float) -> Node:
    """Compare the memory that a job reserves for each of its cores. `operator`: > or <=."""
    assert operator in {Operator.GT, Operator.LE}
    return DoorTerm(_MEMORY_OF_CORE.format(operator=operator), (float(mib),))


def ever_cancelled() -> Node:
    """Return that a batch was cancelled, also if all had ended before."""
    return Or((StateTerm(Operator.EQ, "cancelled"), DoorTerm(_WAS_CANCELLED)))
