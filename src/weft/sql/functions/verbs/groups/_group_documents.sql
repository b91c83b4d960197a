-- _group_documents: the documents of groups. A batch's document is that of its root group with the batch's
--   own fields.
-- `folded`: as of the last fold.
-- Plan: everything by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._group_documents(
    batch_ids bigint[], group_ids int[], folded boolean DEFAULT false
) RETURNS TABLE (batch_id bigint, group_id int, document jsonb) LANGUAGE sql STABLE AS $$
    WITH counts AS MATERIALIZED (
        SELECT *
        FROM weft._group_counts(
            _group_documents.batch_ids, _group_documents.group_ids, _group_documents.folded
        )
    ),
    costs AS MATERIALIZED (
        SELECT *
        FROM weft._group_costs(
            _group_documents.batch_ids, _group_documents.group_ids, _group_documents.folded
        )
    )
    SELECT
        g.batch_id,
        g.group_id,
        jsonb_build_object(
            'batch_id', b.batch_id, 'group_id', g.group_id, 'parent_id', g.parent_id, 'path', g.path,
            'kind', CASE WHEN g.is_set THEN 'set' ELSE 'tree' END,
            'name', CASE WHEN g.group_id = 0 THEN b.name ELSE g.name END,
            'user', u.name,
            'billing_project', p.name,
            'state', CASE
                WHEN k.n_open > 0 AND NOT x.cut_short THEN 'running'
                WHEN k.n_open = 0 AND n.n_failed + n.n_errored > 0 THEN 'failure'
                WHEN n.n_cancelled > 0 OR x.cut_short THEN 'cancelled'
                ELSE 'success'
            END,
            'complete', k.n_open = 0,
            'hidden', b.hidden,
            'cancelled', x.cancelled,
            'held', weft._is_held(g.batch_id, g.group_id, 0) OR g.is_set AND weft._is_held(g.batch_id, 0, 0),
            'n_jobs', k.n_open + k.n_done, 'n_completed', k.n_done, 'n_pending', n.n_pending,
            'n_ready', n.n_ready, 'n_queued', n.n_queued, 'n_creating', n.n_creating,
            'n_running', n.n_running, 'n_blocked', n.n_blocked, 'n_succeeded', n.n_succeeded,
            'n_failed', n.n_failed, 'n_errored', n.n_errored, 'n_cancelled', n.n_cancelled, 'cost', c.cost,
            'cost_by_resource', c.cost_by_resource,
            'created_at', g.created_at,
            'completed_at', e.completed_at,
            'duration_ms', weft._ms_between(
                g.created_at,
                coalesce(
                    e.completed_at, CASE WHEN k.n_open + k.n_done = 0 THEN g.created_at END, clock_timestamp()
                )
            ),
            'attributes', CASE WHEN g.group_id = 0 THEN b.attributes ELSE g.attributes END,
            'callback', CASE WHEN g.group_id = 0 THEN b.callback ELSE g.callback END,
            'cancel_after_n_failures', g.cancel_after_n_failures,
            'max_running', NULL,
            'trace_id', b.trace_id
        ) || CASE
            WHEN g.group_id = 0 AND b.resubmitted_from IS NOT NULL
                THEN jsonb_build_object('resubmitted_from', b.resubmitted_from)
            ELSE '{}'
        END || CASE
            WHEN g.group_id = 0 AND b.door IS NOT NULL
                THEN jsonb_strip_nulls(
                    jsonb_build_object(
                        'door', b.door, 'foreign_id', b.foreign_id, 'foreign_trace', b.foreign_trace
                    )
                )
            ELSE '{}'
        END || CASE WHEN b.gated THEN weft._gate_fields(b.batch_id) ELSE '{}' END
    FROM counts n
    JOIN costs c
    USING (batch_id, group_id)
    CROSS JOIN LATERAL (
        SELECT x.* FROM weft.job_group x WHERE x.batch_id = n.batch_id AND x.group_id = n.group_id OFFSET 0
    ) g
    CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = n.batch_id OFFSET 0) b
    CROSS JOIN LATERAL (SELECT x.name FROM weft.tenant_user x WHERE x.user_id = b.user_id OFFSET 0) u
    CROSS JOIN LATERAL (SELECT x.name FROM weft.billing_project x WHERE x.project_id = b.project_id OFFSET 0)
        p
    CROSS JOIN LATERAL (
        SELECT
            n.n_pending + n.n_ready + n.n_queued + n.n_creating + n.n_running + n.n_blocked AS n_open,
            n.n_succeeded + n.n_failed + n.n_errored + n.n_cancelled AS n_done
    ) k
    CROSS JOIN LATERAL (
        SELECT CASE
            WHEN k.n_open = 0 AND k.n_done > 0
                THEN weft._completed_at(
                    g.created_at,
                    n.last_ended_at,
                    (
                        SELECT max(gc.completed_at)
                        FROM weft.group_completion gc
                        WHERE gc.batch_id = g.batch_id AND gc.group_id = g.group_id
                    )
                )
        END AS completed_at
    ) e
    CROSS JOIN LATERAL (
        -- What had ended before its cancel keeps its state. What was empty had not: it waited for its first
        -- jobs.
        SELECT
            count(*) > 0 AS cancelled,
            coalesce(
                bool_or(
                    e.completed_at IS NULL OR gc.cancelled_at < coalesce(n.last_ended_at, e.completed_at)
                ),
                false
            ) AS cut_short
        FROM (
            SELECT c.cancelled_at
            FROM weft.group_ancestor a
            JOIN weft.group_cancel c ON c.batch_id = a.batch_id AND c.group_id = a.ancestor_id
            WHERE a.batch_id = g.batch_id AND a.group_id = g.group_id
            UNION ALL
            -- A set stands below no group, but its jobs are the batch's.
            SELECT c.cancelled_at
            FROM weft.group_cancel c
            WHERE g.is_set AND c.batch_id = g.batch_id AND c.group_id = 0
        ) gc
    ) x
$$;
