-- count_reasons: why jobs of a group failed, and how many for each reason: those with numbers above `after`
--   whose failed attempts are among the next limit_attempts.
-- Safe to repeat: yes, it only reads.
-- Raises WF101, WF103.
-- Plan: failed attempts by their index from `after` on, and their jobs by key; never what succeeded.
-- Returns: one row: the counts, and after which job to go on; NULL: that was all.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.count_reasons(
    tenant_id int, batch_id bigint, of_group_id int, after int, limit_attempts int
) RETURNS TABLE (items jsonb, next_after int) LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
BEGIN
    PERFORM weft._check_group(count_reasons.batch_id, of_group_id);
    RETURN QUERY
    WITH page AS MATERIALIZED (
        -- All attempts of the last job, so that the next page begins with another one.
        SELECT
            a.job_id, a.attempt, a.reason, a.exit_code, a.signal
        FROM weft.attempt a
        WHERE a.batch_id = count_reasons.batch_id AND a.job_id > count_reasons.after AND a.reason IS NOT NULL
        ORDER BY a.job_id FETCH FIRST (limit_attempts) ROWS WITH TIES
    ),
    found AS (
        SELECT p.reason, p.exit_code, p.signal, s.word, count(*) AS n, min(p.job_id) AS first_job
        FROM page p
        CROSS JOIN LATERAL (
            SELECT x.state, x.group_id
            FROM weft.job x
            WHERE x.batch_id = count_reasons.batch_id
                AND x.job_id = p.job_id
                AND x.attempt = p.attempt
                AND x.state IN (STATE_FAILED, STATE_ERROR)
            OFFSET 0
        ) j
        JOIN weft.job_state s ON s.state = j.state
        WHERE of_group_id = 0
            OR EXISTS (
                SELECT
                FROM weft.group_ancestor g
                WHERE g.batch_id = count_reasons.batch_id
                    AND g.group_id = j.group_id
                    AND g.ancestor_id = of_group_id
            )
        GROUP BY 1, 2, 3, 4
    )
    SELECT
        coalesce(
            (
                SELECT jsonb_agg(
                    jsonb_build_object(
                        'reason', f.reason,
                        'exit_code', f.exit_code,
                        'signal', f.signal,
                        'state', f.word,
                        'n_jobs', f.n,
                        'first_job', f.first_job
                    ) ORDER BY f.n DESC,
                    f.first_job
                )
                FROM found f
            ),
            '[]'
        ),
        CASE WHEN (SELECT count(*) FROM page) >= limit_attempts THEN (SELECT max(p.job_id) FROM page p) END;
END $$;
