-- list_topic_runs: runs of a job that somebody outside has asked for by records: how many there are, and a
--   page, the newest first. Such a run has no owner here: whoever may read in the tenant of its topics and
--   knows the id of the job sees it.
-- Plan: by topic_run_job_idx.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_topic_runs(tenant_id int, of_job text, first_row int, limit_rows int)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN (
        SELECT jsonb_build_object(
            'total', (
                SELECT count(*)
                FROM weft.topic_run r
                WHERE r.tenant_id = list_topic_runs.tenant_id AND r.job_id = of_job
            ),
            'runs', coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'event_id', x.record_id,
                        'job_id', x.job_id,
                        'trace_id', x.trace_id,
                        'state', CASE
                            WHEN x.ended_at IS NULL THEN 'running'
                            WHEN x.failed THEN 'failed'
                            ELSE 'success'
                        END,
                        'started_at', x.begun_at,
                        'ended_at', x.ended_at,
                        'error', nullif(x.error, '')
                    ) ORDER BY x.begun_at DESC
                ),
                '[]'
            )
        )
        FROM (
            SELECT r.*
            FROM weft.topic_run r
            WHERE r.tenant_id = list_topic_runs.tenant_id AND r.job_id = of_job
            ORDER BY r.begun_at DESC
            OFFSET first_row
            LIMIT limit_rows
        ) x
    );
END $$;
