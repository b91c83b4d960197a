-- _waiting_jobs: the first jobs of a user in a pool that wait at these gate sets, in the order in which
--   claims would serve them.
-- Plan: heads of ready_job and runnable by key; jobs by key from the low mark on. In a partly cancelled or
--   held batch it examines 5,000 numbers of a range; the sweeps notify the gates when they have passed them.
-- limits: for each set, at most this number of its jobs.
-- with_paused: include jobs of a shape that was not claimed in this pool lately (weft.gate_pause).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._waiting_jobs(
    of_gate_set_ids int[],
    of_pool_id int,
    of_user_id int,
    limit_jobs int,
    with_paused boolean,
    at timestamptz,
    limits int[] DEFAULT NULL
) RETURNS TABLE (
    gate_set_id int,
    rank smallint,
    batch_id bigint,
    is_ranged boolean,
    job_id int,
    shape_id int,
    runnable_id bigint
) LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN QUERY
    SELECT c.*
    FROM unnest(of_gate_set_ids, limits) t (s, n)
    CROSS JOIN LATERAL (
        (
            SELECT q.gate_set_id, q.rank, q.batch_id, false AS is_ranged, q.job_id, j.shape_id, NULL::bigint
            FROM weft.ready_job q
            CROSS JOIN LATERAL (
                SELECT y.shape_id
                FROM weft.job y
                WHERE y.batch_id = q.batch_id
                    AND y.job_id = q.job_id
                    AND y.state = STATE_READY
                    AND (
                        NOT EXISTS (SELECT FROM weft._guards(q.batch_id))
                            OR weft._may_pass(y.batch_id, y.group_id, y.job_id, y.always_run)
                    )
                OFFSET 0
            ) j
            WHERE q.gate_set_id = s
                AND q.pool_id = of_pool_id
                AND q.user_id = of_user_id
                AND (with_paused OR NOT weft._is_paused(s, of_pool_id, j.shape_id, _waiting_jobs.at))
            ORDER BY q.rank, q.batch_id, q.job_id
            LIMIT coalesce(n, limit_jobs)
        ) UNION ALL (
            SELECT r.gate_set_id, 0::smallint, r.batch_id, true, j.job_id, j.shape_id, r.runnable_id
            FROM weft.runnable r
            CROSS JOIN LATERAL (
                SELECT
                    EXISTS (SELECT FROM weft._guards(r.batch_id)) AS is_strict,
                    EXISTS (SELECT FROM weft.group_cancel c WHERE c.batch_id = r.batch_id AND c.group_id = 0)
                        AS is_over
            ) b
            CROSS JOIN LATERAL (
                SELECT y.job_id, y.shape_id
                FROM weft.job y
                WHERE y.batch_id = r.batch_id
                    AND y.job_id >= r.low_job
                    AND y.job_id <= least(r.last_job, CASE WHEN b.is_strict THEN r.low_job::bigint + 5000 END)
                    AND y.state = STATE_READY
                    AND NOT y.listed
                    AND y.lane_id = r.lane_id
                    AND (NOT b.is_strict OR weft._may_pass(y.batch_id, y.group_id, y.job_id, y.always_run))
                    AND (with_paused OR NOT weft._is_paused(s, of_pool_id, y.shape_id, _waiting_jobs.at))
                ORDER BY y.job_id
                LIMIT coalesce(n, limit_jobs)
            ) j
            WHERE r.gate_set_id = s AND r.pool_id = of_pool_id AND r.user_id = of_user_id AND NOT b.is_over
            ORDER BY r.batch_id, r.first_job
            LIMIT coalesce(n, limit_jobs)
        )
    ) c
    ORDER BY c.rank, c.batch_id, c.is_ranged, c.job_id
    LIMIT limit_jobs;
END $$;
