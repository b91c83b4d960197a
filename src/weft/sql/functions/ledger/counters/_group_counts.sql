-- _group_counts: the number of jobs in each state and the last end of a job, for these groups; exact in this
--   statement's snapshot.
-- `folded`: as of the last fold.
-- Plan: sums by key; the unfolded deltas (about half a second's) once, added up before their groups are
--   looked up.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._group_counts(
    batch_ids bigint[], group_ids int[], folded boolean DEFAULT false
) RETURNS TABLE (
    batch_id bigint,
    group_id int,
    n_pending bigint,
    n_ready bigint,
    n_queued bigint,
    n_creating bigint,
    n_running bigint,
    n_blocked bigint,
    n_succeeded bigint,
    n_failed bigint,
    n_errored bigint,
    n_cancelled bigint,
    last_ended_at timestamptz
) LANGUAGE sql STABLE AS $$
    WITH recent AS (
        SELECT
            d.batch_id,
            d.group_id,
            sum(d.n_pending) AS n_pending,
            sum(d.n_ready) AS n_ready,
            sum(d.n_queued) AS n_queued,
            sum(d.n_creating) AS n_creating,
            sum(d.n_running) AS n_running,
            sum(d.n_blocked) AS n_blocked,
            sum(d.n_succeeded) AS n_succeeded,
            sum(d.n_failed) AS n_failed,
            sum(d.n_errored) AS n_errored,
            sum(d.n_cancelled) AS n_cancelled,
            max(d.last_ended_at) AS last_ended_at
        FROM weft._unfolded() d
        WHERE d.batch_id = ANY (_group_counts.batch_ids) AND NOT _group_counts.folded
        GROUP BY 1, 2
    ),
    part AS (
        SELECT
            t.b,
            t.g,
            true AS is_asked,
            c.n_pending, c.n_ready, c.n_queued, c.n_creating, c.n_running, c.n_blocked, c.n_succeeded,
            c.n_failed, c.n_errored, c.n_cancelled, c.last_ended_at
        FROM unnest(_group_counts.batch_ids, _group_counts.group_ids) t (b, g)
        LEFT JOIN LATERAL (
            SELECT x.* FROM weft.group_count x WHERE x.batch_id = t.b AND x.group_id = t.g OFFSET 0
        ) c ON true
        UNION ALL
        SELECT
            r.batch_id, n.ancestor_id, false, r.n_pending, r.n_ready, r.n_queued, r.n_creating, r.n_running,
            r.n_blocked, r.n_succeeded, r.n_failed, r.n_errored, r.n_cancelled, r.last_ended_at
        FROM recent r
        CROSS JOIN LATERAL (
            SELECT x.ancestor_id
            FROM weft.group_ancestor x
            WHERE x.batch_id = r.batch_id AND x.group_id = r.group_id
            OFFSET 0
        ) n
    )
    SELECT
        p.b,
        p.g,
        coalesce(sum(p.n_pending), 0)::bigint,
        coalesce(sum(p.n_ready), 0)::bigint,
        coalesce(sum(p.n_queued), 0)::bigint,
        coalesce(sum(p.n_creating), 0)::bigint,
        coalesce(sum(p.n_running), 0)::bigint,
        coalesce(sum(p.n_blocked), 0)::bigint,
        coalesce(sum(p.n_succeeded), 0)::bigint,
        coalesce(sum(p.n_failed), 0)::bigint,
        coalesce(sum(p.n_errored), 0)::bigint,
        coalesce(sum(p.n_cancelled), 0)::bigint,
        max(p.last_ended_at)
    FROM part p
    GROUP BY p.b, p.g
    HAVING bool_or(p.is_asked)
$$;
