"""The statement for a query of jobs: j is the job, a its last attempt if that has ended, l its
label and r its array's, t one of its attempts.

Where the jobs that a query may find are: ranges of job numbers, in order, none twice.

Every access gives its ranges in order from an index, so that a page reads no more of them than it
needs. Jobs between them are never read.
"""

from types import MappingProxyType
from typing import Final, assert_never

from weft.core.query import tree
from weft.core.query.fields import JOB_STATES, REASONS
from weft.core.query.reach import Access, Failures, Named, OfGroup, OfWorkers, Reach, Ready
from weft.sql.names import with_numbers
from weft.store.query_sql import fragments
from weft.store.query_sql.fragments import Parameters, milliseconds

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


# Each join is a look-up by the whole key: OFFSET 0 keeps the planner, which may have no statistics
# yet, from reading all rows of the batch for each job instead.
_LABEL: Final = """
    LEFT JOIN LATERAL (
        SELECT y.job_id, y.name, y.attributes FROM weft.job_label y
        WHERE y.batch_id = j.batch_id AND y.job_id = j.job_id OFFSET 0) l ON true
    LEFT JOIN LATERAL (
        SELECT y.name, y.attributes FROM weft.job_array y
        WHERE y.batch_id = j.batch_id AND y.first_job = j.spec_first OFFSET 0) r ON true"""
_NAME: Final = "(CASE WHEN l.job_id IS NULL THEN r.name ELSE l.name END)"
_ATTRIBUTES: Final = "(CASE WHEN l.job_id IS NULL THEN r.attributes ELSE l.attributes END)"
_LAST_ATTEMPT: Final = """
    LEFT JOIN LATERAL (
        SELECT y.exit_code, y.reason, y.signal, y.started_at, y.ended_at, y.state
        FROM weft.attempt y
        WHERE y.batch_id = j.batch_id AND y.job_id = j.job_id AND y.attempt = j.attempt
          AND j.state <> STATE_RUNNING OFFSET 0) a ON true"""
_REASON: Final = """(CASE WHEN j.state = STATE_ERROR AND a.state IS DISTINCT FROM STATE_ERROR
    THEN (SELECT CASE c.subtype WHEN 'machine' THEN REASON_SYSTEM
              WHEN 'blocked' THEN REASON_BLOCKED
              WHEN 'overdue' THEN REASON_OVERDUE WHEN 'refused' THEN REASON_CANCELLED
              ELSE REASON_DEADLINE END
          FROM weft.job_change c
          WHERE c.batch_id = j.batch_id AND c.job_id = j.job_id AND c.to_state = STATE_ERROR
            AND c.subtype IN ('blocked', 'deadline', 'machine', 'overdue', 'refused', 'unanswered')
          ORDER BY c.change_id DESC LIMIT 1)
    ELSE a.reason END)"""
"""A job that ended while it waited, late or without what it needs, has no attempt that says so."""
_DURATION: Final = milliseconds(
    "coalesce(a.started_at, j.started_at)", "coalesce(a.ended_at, clock_timestamp())"
)
_COST: Final = f"""(CASE WHEN j.attempt = 0 THEN 0 ELSE (
    SELECT round(coalesce(sum(x.ms * {fragments.PRICED}), 0) / 3600000, 12)
    FROM (
        SELECT e.rate_card_id, e.shape_id, {milliseconds("e.started_at", "e.ended_at")} AS ms
        FROM weft.attempt e
        WHERE e.batch_id = j.batch_id AND e.job_id = j.job_id AND e.started_at IS NOT NULL
        UNION ALL
        SELECT j.rate_card_id, j.shape_id, {milliseconds("j.started_at", "clock_timestamp()")}
        WHERE j.state = STATE_RUNNING AND j.started_at IS NOT NULL) x
    JOIN price p ON p.rate_card_id = x.rate_card_id
    JOIN weft.shape h ON h.shape_id = x.shape_id) END)"""
_SOME_ATTEMPT: Final = """(j.attempt > 0 AND EXISTS (
    SELECT FROM weft.attempt t
    WHERE t.batch_id = j.batch_id AND t.job_id = j.job_id AND {0} OFFSET 0))"""
_ON_INSTANCE: Final = """{0} IN (
    SELECT i.incarnation_id FROM weft.worker_incarnation i
    JOIN weft.worker w ON w.worker_id = i.worker_id WHERE {1})"""
_IN_POOL: Final = """EXISTS (
    SELECT FROM weft.batch b JOIN weft.queue q ON q.queue_id = b.queue_id
    JOIN weft.pool p ON p.pool_id = q.pool_id WHERE b.batch_id = j.batch_id AND {0})"""
_TIMES: Final = MappingProxyType(
    {
        tree.Field.START_TIME: "(j.state = STATE_RUNNING AND j.started_at {0} OR "
        + _SOME_ATTEMPT.format("t.started_at {0}")
        + ")",
        tree.Field.END_TIME: "(j.state >= STATE_SUCCESS AND j.cancelled_at {0} OR "
        + _SOME_ATTEMPT.format("t.ended_at {0}")
        + ")",
    }
)
_BELOW: Final = """EXISTS (
    SELECT FROM weft.group_ancestor g
    WHERE g.batch_id = j.batch_id AND g.group_id = j.group_id AND g.ancestor_id = {0} OFFSET 0)"""
_JOBS: Final = """{prices}SELECT x.job_id FROM ({ranges}) s
CROSS JOIN LATERAL (
    SELECT j.job_id FROM weft.job j{joins}
    WHERE j.batch_id = {batch} AND j.job_id >= greatest(s.first_job, {first})
      AND j.job_id <= least(s.last_job, {last})
      AND {condition}
    ORDER BY j.job_id LIMIT {limit}) x
LIMIT {limit}"""
"""The nested loop keeps the order of the ranges, and ends with the last row of the page."""


def select_jobs(
    node: tree.Node, reach: Reach, *, batch_id: int, after: int, limit: int
) -> fragments.Statement:
    """Return the statement for the numbers of a batch's committed jobs that match, in order."""
    parameters = fragments.Parameters()
    bound = {
        "batch": parameters.integer(batch_id),
        "first": parameters.integer(max(reach.first, after + 1)),
        "last": parameters.integer(reach.last),
        "limit": parameters.integer(limit),
    }
    ranges = ranges_of(reach, bound, parameters)
    condition = fragments.condition_of(node, parameters, _term)
    if reach.group:
        condition = f"{_in_group(reach.group, parameters)} AND {condition}"
    text = _JOBS.format(
        **bound,
        ranges=ranges,
        condition=condition,
        joins=parameters.joins(COMMITTED, _LABEL, _LAST_ATTEMPT),
        prices=parameters.joins(fragments.PRICE),
    )
    return fragments.Statement(with_numbers(text), tuple(parameters.values))


def _term(term: tree.Term, parameters: fragments.Parameters) -> str:
    match term:
        case tree.StateTerm(operator, word):
            states = parameters.bind(sorted(map(int, JOB_STATES[word])), "smallint[]")
            return f"j.state {'= ANY' if operator is tree.Operator.EQ else '<> ALL'} ({states})"
        case tree.IntegerTerm(tree.Field.EXIT_CODE | tree.Field.SIGNAL as name, operator, value):
            return _of_attempt(name, operator, value, parameters)
        case tree.ReasonTerm(operator, word):
            return _of_attempt(tree.Field.REASON, operator, REASONS[word], parameters)
        case tree.IntegerTerm(name, operator, value):
            return f"j.{name} {fragments.COMPARED[operator]} {parameters.integer(value)}"
        case tree.MissingTerm(name, operator):
            parameters.want(_LAST_ATTEMPT)
            column = _REASON if name is tree.Field.REASON else f"a.{name}"
            return f"{column} IS {'' if operator is tree.Operator.EQ else 'NOT '}NULL"
        case tree.AmountTerm(tree.Field.COST, operator, value):
            parameters.want(fragments.PRICE)
            return f"{_COST} {fragments.COMPARED[operator]} {parameters.number(value)}"
        case tree.AmountTerm(_, operator, value):
            parameters.want(_LAST_ATTEMPT)
            return f"{_DURATION} {fragments.COMPARED[operator]} {parameters.number(value)} * 1000"
        case tree.TimeTerm(name, operator, at):
            return _TIMES[name].format(f"{fragments.COMPARED[operator]} {parameters.moment(at)}")
        case tree.TextTerm(name, operator, text):
            return _text(name, operator, parameters.text(text), parameters)
        case tree.AttributeTerm():
            parameters.want(_LABEL)
            return fragments.attribute(_ATTRIBUTES, term, parameters)
        case tree.AnyTerm(operator, text):
            parameters.want(_LABEL)
            bound = parameters.text(text)
            label = fragments.any_label(_NAME, _ATTRIBUTES, term, bound)
            return f"({label} OR {_on_instance(operator, bound)})"
        case _:
            assert_never(term)


def _of_attempt(
    name: tree.Field, operator: tree.Operator, value: int, parameters: fragments.Parameters
) -> str:
    parameters.want(_LAST_ATTEMPT)
    is_other = operator is tree.Operator.NE  # as is a job without one
    compared = "IS DISTINCT FROM" if is_other else fragments.COMPARED[operator]
    column = _REASON if name is tree.Field.REASON else f"a.{name}"
    return f"{column} {compared} {parameters.integer(value)}"


def _in_group(group: OfGroup, parameters: fragments.Parameters) -> str:
    if group.numbers is None:
        return _BELOW.format(parameters.integer(group.group_id))
    return f"j.group_id = ANY ({parameters.bind(list(group.numbers), 'int[]')})"


def _text(
    name: tree.Field, operator: tree.Operator, bound: str, parameters: fragments.Parameters
) -> str:
    if name is tree.Field.INSTANCE:
        return _on_instance(operator, bound)
    if name is tree.Field.INSTANCE_COLLECTION:
        return _IN_POOL.format(fragments.matched("p.name", operator, bound))
    parameters.want(_LABEL)
    return fragments.matched(_NAME, operator, bound)


def _on_instance(operator: tree.Operator, bound: str) -> str:
    """Return the condition that one of its attempts was or is there."""
    named = fragments.matched("w.name", operator, bound)
    live = _ON_INSTANCE.format("j.incarnation_id", named)
    ended = _SOME_ATTEMPT.format(_ON_INSTANCE.format("t.incarnation_id", named))
    return f"({live} OR {ended})"
