"""Where the jobs that a query may find are: ranges of job numbers, in order, none twice.

Every access gives its ranges in order from an index, so that a page reads no more of them than it
needs. Jobs between them are never read.
"""

from types import MappingProxyType
from typing import Final

from weft.core.query.reach import Access, Failures, Named, OfGroup, OfWorkers, Reach, Ready
from weft.store.query_sql.fragments import Parameters

COMMITTED: Final = """
    CROSS JOIN LATERAL (
        SELECT FROM weft.batch_update y
        WHERE y.batch_id = j.batch_id AND y.update_id = j.update_id
          AND y.committed_at IS NOT NULL OFFSET 0) u"""
_UPDATES: Final = """
    SELECT u.first_job, u.first_job + u.n_jobs - 1 AS last_job FROM weft.batch_update u
    WHERE u.batch_id = {batch} AND u.committed_at IS NOT NULL AND u.first_job <= {last}
      AND u.first_job >= (
        SELECT b.first_job FROM weft.batch_update b
        WHERE b.batch_id = {batch} AND b.first_job <= {first}
        ORDER BY b.first_job DESC LIMIT 1)
    ORDER BY u.first_job OFFSET 0"""
"""Jobs are numbered by updates without gaps: the walk begins with the update that holds `first`,
and skips uncommitted jobs.
"""
_NAMED: Final = """
    (SELECT n.job_id AS first_job, n.job_id AS last_job FROM weft.job_label n
    WHERE n.batch_id = {batch} AND n.name = {name} AND n.job_id >= {first} AND n.job_id <= {last}
    ORDER BY n.job_id)
    UNION ALL
    (SELECT n.first_job, n.first_job + n.n_jobs - 1 FROM weft.job_array n
    WHERE n.batch_id = {batch} AND n.name = {name} AND n.first_job + n.n_jobs > {first}
      AND n.first_job <= {last}
    ORDER BY n.first_job)"""
_FAILED: Final = """
    (SELECT f.job_id AS first_job, f.job_id AS last_job FROM weft.attempt f
    WHERE f.batch_id = {batch} AND f.reason IS NOT NULL AND f.job_id >= {first}
      AND f.job_id <= {last}
    ORDER BY f.job_id)
    UNION ALL
    (SELECT f.job_id, f.job_id FROM weft.job_change f
    WHERE f.batch_id = {batch} AND f.to_state = STATE_ERROR AND f.job_id >= {first}
      AND f.job_id <= {last}
    ORDER BY f.job_id)"""
_RUNNING: Final = """
    (SELECT v AS first_job, v AS last_job FROM weft.live_jobs({batch}, {first}, {last}) v)"""
_READY: Final = """
    (SELECT w.job_id AS first_job, w.job_id AS last_job FROM weft.ready_job w
    WHERE w.batch_id = {batch} AND w.job_id >= {first} AND w.job_id <= {last}
    ORDER BY w.job_id)
    UNION ALL
    (SELECT w.low_job, w.last_job FROM weft.runnable w
    WHERE w.batch_id = {batch} AND w.last_job >= {first} AND w.low_job <= {last}
    ORDER BY w.low_job)"""
_BUNCH: Final = """
    CROSS JOIN LATERAL (
        SELECT y.first_job + y.n_jobs - 1 AS last_job FROM weft.bunch y
        WHERE y.batch_id = c.batch_id AND y.update_id = c.update_id AND y.first_job = c.first_job
        OFFSET 0) b"""
_OF_NUMBER: Final = f"""
    (SELECT c.first_job, b.last_job FROM weft.bunch_count c{_BUNCH}
    WHERE c.batch_id = {{batch}} AND c.group_id = {{number}} AND c.first_job < {{first}}
    ORDER BY c.first_job DESC LIMIT 1)
    UNION ALL
    (SELECT c.first_job, b.last_job FROM weft.bunch_count c{_BUNCH}
    WHERE c.batch_id = {{batch}} AND c.group_id = {{number}} AND c.first_job >= {{first}}
      AND c.first_job <= {{last}}
    ORDER BY c.first_job)
    UNION ALL
    (SELECT m.first_job, m.last_job FROM weft.member_span m
    WHERE m.batch_id = {{batch}} AND m.group_id = {{number}} AND m.last_job >= {{first}}
      AND m.first_job <= {{last}}
    ORDER BY m.first_job)"""
"""Bunches do not overlap, so of those before `first` the last one may reach it."""
_NUMBERS: Final = """(
        SELECT y.batch_id, y.group_id FROM weft.group_ancestor y
        WHERE y.batch_id = {batch} AND y.ancestor_id = {group} ORDER BY y.group_id OFFSET 0) g
    CROSS JOIN LATERAL"""
_OF_GROUP: Final = f"""
    (SELECT c.first_job, b.last_job FROM {_NUMBERS} (
        SELECT y.batch_id, y.update_id, y.first_job FROM weft.bunch_count y
        WHERE y.batch_id = g.batch_id AND y.group_id = g.group_id AND y.first_job <= {{last}}
        OFFSET 0) c{_BUNCH}
    WHERE b.last_job >= {{first}})
    UNION ALL
    (SELECT m.first_job, m.last_job FROM {_NUMBERS} (
        SELECT y.first_job, y.last_job FROM weft.member_span y
        WHERE y.batch_id = g.batch_id AND y.group_id = g.group_id AND y.last_job >= {{first}}
          AND y.first_job <= {{last}}
        OFFSET 0) m)"""
_FIXED: Final = MappingProxyType({Failures: _FAILED, OfWorkers: _RUNNING, Ready: _READY})
_CLIPPED: Final = """
    SELECT greatest(c.first_job, 1 + max(c.last_job) OVER (
        ORDER BY c.first_job ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)) AS first_job,
        c.last_job
    FROM ({union}) c
    ORDER BY c.first_job OFFSET 0"""
"""Later ranges exclude the jobs of earlier ones."""


def ranges_of(reach: Reach, bound: dict[str, str], parameters: Parameters) -> str:
    """Return the query for the ranges of a reach; `bound` are parameters by name."""
    if reach.access is None:
        return _UPDATES.format(**bound)
    parameters.want(COMMITTED)
    union = "\n    UNION ALL".join(_parts(reach.access, bound, parameters))
    return _CLIPPED.format(union=union)


def _parts(access: Access, bound: dict[str, str], parameters: Parameters) -> list[str]:
    if isinstance(access, Named):
        return [_NAMED.format(name=parameters.text(access.name), **bound)]
    if isinstance(access, Failures | OfWorkers | Ready):
        return [_FIXED[type(access)].format(**bound)]
    if isinstance(access, OfGroup):
        if access.numbers is None:
            return [_OF_GROUP.format(group=parameters.integer(access.group_id), **bound)]
        return [
            _OF_NUMBER.format(number=parameters.integer(number), **bound)
            for number in access.numbers
        ]
    return [part for one in access.accesses for part in _parts(one, bound, parameters)]
