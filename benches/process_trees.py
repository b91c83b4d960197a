"""A process with all that descend from it."""

from weft.bench.process_tree import below, parents_now, use_of


def pids_of_tree(pid: int) -> list[int]:
    """Return a process and all its descendants."""
    return sorted(below(pid, parents_now()))


def cpu_s_of_tree(pid: int) -> float:
    """Return the time that a process and all its descendants have used."""
    return use_of(pids_of_tree(pid)).cpu_s
