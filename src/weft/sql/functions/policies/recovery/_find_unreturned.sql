-- _find_unreturned: which of these jobs would go back into a queue that is closed, or that was deleted while
--   they ran. Those whose last attempt never started go back: they count as jobs that wait there. Those that
--   were cancelled meanwhile are left to _list_ready.
-- Plan: jobs, shapes, queues and attempts by key.
-- Returns: the states, where these are errors.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._find_unreturned(batch_ids bigint[], job_ids int[], states smallint[])
RETURNS smallint[] LANGUAGE sql STABLE AS $$
    SELECT array_agg(
        CASE
            WHEN t.s IN (STATE_READY, STATE_BLOCKED)
                AND weft._takes_none_back(j.tenant_id, j.shape_id)
                AND (
                    t.s = STATE_BLOCKED
                        OR EXISTS (
                            SELECT
                            FROM weft.attempt a
                            WHERE a.batch_id = t.b
                                AND a.job_id = t.j
                                AND a.attempt = j.attempt
                                AND a.started_at IS NOT NULL
                        )
                )
                AND NOT EXISTS (
                    SELECT FROM weft.job_cancel c WHERE c.batch_id = t.b AND c.job_id = t.j AND NOT c.late
                )
                AND NOT weft._is_cancelled(t.b, j.group_id, j.always_run)
                THEN STATE_ERROR
            ELSE t.s
        END::smallint ORDER BY t.n
    )
    FROM unnest(batch_ids, job_ids, states) WITH ORDINALITY t (b, j, s, n)
    CROSS JOIN LATERAL (SELECT x.* FROM weft.job x WHERE x.batch_id = t.b AND x.job_id = t.j OFFSET 0) j
$$;
