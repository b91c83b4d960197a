-- list_causes: why jobs of a batch failed for good: the most frequent causes first, each with its first job
--   as an example.
-- Safe to repeat: yes, it only reads.
-- Raises WF101.
-- Plan: as _causes; the example of each by dead_letter_cause_idx.
-- show_all: also causes of which all jobs are acknowledged.
-- Returns: one row: how many jobs are not acknowledged, how many are, how many causes there are to show, and
--   the first limit_rows of them.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_causes(tenant_id int, batch_id bigint, show_all boolean, limit_rows int)
RETURNS TABLE (n_jobs bigint, n_acknowledged bigint, n_causes bigint, items jsonb)
LANGUAGE plpgsql PLAN_ONCE SET enable_seqscan = off SET enable_mergejoin = off AS $$
BEGIN
    PERFORM weft._check_batch(list_causes.batch_id);
    RETURN QUERY
    WITH cause AS MATERIALIZED (
        SELECT c.*, c.n_jobs - c.n_acknowledged AS n_open, show_all OR c.n_jobs > c.n_acknowledged AS is_shown
        FROM weft._causes(list_causes.batch_id) c
    ),
    shown AS (
        SELECT c.*, e.job_id, e.attempt, e.message AS example
        FROM (SELECT * FROM cause WHERE is_shown ORDER BY n_open DESC, n_jobs DESC, cause_id LIMIT limit_rows)
            c
        LEFT JOIN LATERAL (
            SELECT d.job_id, j.attempt, a.message
            FROM weft.dead_letter d
            JOIN weft.job j ON j.batch_id = d.batch_id AND j.job_id = d.job_id
            LEFT JOIN weft.attempt a ON a.batch_id = j.batch_id
                AND a.job_id = j.job_id
                AND a.attempt = j.attempt
            WHERE d.batch_id = c.batch_id AND d.acknowledged = (c.n_open = 0) AND d.cause_id = c.cause_id
            ORDER BY d.job_id
            LIMIT 1
        ) e ON true
    )
    SELECT
        coalesce(sum(c.n_open), 0)::bigint,
        coalesce(sum(c.n_acknowledged), 0)::bigint,
        count(*) FILTER (WHERE c.is_shown),
        (
            SELECT coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'cause', weft._cause_name(s.cause_id),
                        'reason', s.reason, 'exit_code', s.exit_code, 'signal', s.signal,
                        'message', s.message, 'n_jobs', s.n_open,
                        'n_acknowledged', s.n_acknowledged,
                        'failed_at', s.failed_at,
                        'example', CASE
                            WHEN s.job_id IS NOT NULL
                                THEN jsonb_build_object(
                                    'job_id', s.job_id, 'attempt', s.attempt, 'message', s.example
                                )
                        END
                    ) ORDER BY s.n_open DESC,
                    s.n_jobs DESC,
                    s.cause_id
                ),
                '[]'
            )
            FROM shown s
        )
    FROM cause c;
END $$;
