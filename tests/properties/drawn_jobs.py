"""Jobs as the property test draws them, and as the database is given them."""

from collections.abc import Mapping
from enum import Enum, auto
from itertools import zip_longest
from typing import Any, Final

from hypothesis import strategies as st

from builders import job_rows
from properties.hold_rules import SETS
from properties.jobs_model import Job
from properties.shares import SHARE
from weft.core.states import Need, Reason
from weft.ports.store import JobRows, NewGroup


class Feature(Enum):
    """What machines may have besides work, groups and conditions."""

    GATES = auto()
    """Gates, holds and lanes."""
    STOPS = auto()
    """Deadlines and preemption."""
    MONITOR = auto()
    """Limits of what attempts do."""
    LIMITS = auto()
    """Groups that too many failures cancel."""
    MORE = auto()
    """Jobs that ask for more memory and time."""


CURABLE = frozenset({Reason.EXIT, Reason.SIGNAL, Reason.OOM, Reason.TIMEOUT})
# What a drawn job looks like; its parents are places among those that it may have.
JOBS = st.lists(
    st.fixed_dictionaries(
        {
            "parents": st.lists(st.integers(0, 9), max_size=3),
            "need": st.sampled_from([Need.END, Need.START, SHARE, SHARE, None, None]),
            "group": st.integers(0, 3),
            "sets": st.sampled_from([frozenset(), frozenset(), {4}, {5}, {4, 5}]),
            "always_run": st.sampled_from([False, False, True]),
            "priority": st.sampled_from([0, 0, 0, 2, -1]),
            "max_attempts": st.sampled_from([1, 1, 3]),
            "retry_on": st.sampled_from(
                [frozenset(), frozenset({Reason.EXIT}), frozenset({Reason.LOST}), CURABLE]
            ),
            "has_rules": st.booleans(),
            "lane": st.sampled_from([0, 0, 0, 1, 2, 2, 3]),
            "key": st.sampled_from([0, 0, 0, 0, 1, 2]),
            "licences": st.sampled_from([0, 0, 0, 0, 1, 2]),
            "is_dated": st.sampled_from([False, False, False, False, True]),
            "has_deadline": st.sampled_from([False, False, False, True]),
            "is_preemptible": st.booleans(),
            "waits": st.booleans(),
            "asks_more": st.booleans(),
        }
    ),
    min_size=1,
    max_size=5,
)
NARROW: Final[Mapping[Feature, Mapping[str, Any]]] = {
    Feature.GATES: {"lane": 0, "key": 0, "licences": 0, "is_dated": False, "priority": 0},
    Feature.MORE: {"asks_more": False},
    Feature.STOPS: {"has_deadline": False, "is_preemptible": False},
}
"""What jobs look like in machines without these features."""


TREE = (0, 1, 0)
"""Parents of the groups 1, 2 and 3."""
FAILURES_MAX = ({2: 1, 5: 1}, {0: 2})
"""How many failures cancel groups of a batch, or all of it."""


def groups_of(failures_max: Mapping[int, int]) -> list[NewGroup]:
    """Return the groups and sets of a batch."""
    parents = [*enumerate(TREE, 1), *((one, 0) for one in SETS)]
    return [
        NewGroup(
            group_id=n,
            parent_id=parent,
            name=f"g{n}",
            is_set=n in SETS,
            cancel_after_n_failures=failures_max.get(n),
        )
        for n, parent in parents
    ]


def sets_of(jobs: list[Job], first: int) -> dict[int, tuple[int, ...]]:
    """Return the sets of jobs by their numbers in the update, as an update refers to them."""
    return {
        job.number - first + 1: tuple(sorted(-one for one in job.sets)) for job in jobs if job.sets
    }


def tries_of(drawn: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tries of a job that asks for more with each, else nothing."""
    return {"max_attempts": 3, "retry_on": CURABLE} if drawn["asks_more"] else {}


def cut_rows(rows: JobRows, place: int) -> list[JobRows]:
    """Return one bunch as two."""
    parts = []
    for start, stop in ((0, place), (place, rows.n_jobs)):
        edges = [
            edge
            for edge in zip_longest(rows.edge_child, rows.edge_parent, rows.edge_parent_n)
            if start < edge[0] <= stop
        ]
        part = job_rows(
            stop - start,
            first_job=start + 1,
            group=rows.group_id[start:stop],
            priority=rows.priority[start:stop],
            always_run=rows.always_run[start:stop],
            max_attempts=rows.max_attempts[start:stop],
            shapes=rows.shapes,
            shape_index=rows.shape_index[start:stop],
        )
        part.retry_on = rows.retry_on[start:stop]
        rare = [
            one
            for one in zip(rows.rare_job, rows.rare_fields, strict=True)
            if start < one[0] <= stop
        ]
        part.rare_job, part.rare_fields = [r[0] for r in rare], [r[1] for r in rare]
        part.combo_index = rows.combo_index[start:stop]
        part.combo_number, part.combo_set = rows.combo_number, rows.combo_set
        part.edge_child, part.edge_parent = [e[0] for e in edges], [e[1] for e in edges]
        part.edge_parent_n = [e[2] for e in edges] if rows.edge_parent_n else []
        parts.append(part)
    return parts
