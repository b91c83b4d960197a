-- _run_events: what a sink with events is told of an attempt that has just ended for good: that it began, and
--   how it ended.
-- Plan: products by key.
-- run_id: of the attempt, the same in both, and no other one's anywhere. Products are those that were kept;
--   inputs what their job got.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._run_events(attempt weft.attempt, state smallint)
RETURNS TABLE (path text, more jsonb) LANGUAGE sql STABLE AS $$
    SELECT
        format('event %s %s', e.event, attempt.attempt),
        jsonb_build_object(
            'event', e.event,
            'event_at', e.at,
            'run_id', md5(
                format('%s b%s.j%s %s', weft.database_id(), attempt.batch_id, attempt.job_id, attempt.attempt)
            )::uuid,
            'products', coalesce(p.products, '[]'),
            'inputs', coalesce(p.inputs, '[]')
        )
    FROM (
        VALUES
            ('start', coalesce(attempt.started_at, attempt.ended_at)),
            (
                CASE _run_events.state
                    WHEN STATE_SUCCESS THEN 'complete'
                    WHEN STATE_CANCELLED THEN 'abort'
                    ELSE 'fail'
                END,
                attempt.ended_at
            )
    ) e (event, at)
    CROSS JOIN (
        SELECT
            jsonb_agg(p.document ORDER BY p.line) AS products,
            (array_agg(p.inputs ORDER BY p.line))[1] AS inputs
        FROM weft.product p
        WHERE p.batch_id = attempt.batch_id
            AND p.job_id = attempt.job_id
            AND p.attempt = attempt.attempt
            AND p.kept_at IS NOT NULL
    ) p
$$;
