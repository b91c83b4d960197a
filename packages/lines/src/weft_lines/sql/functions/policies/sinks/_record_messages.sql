-- _record_messages: record the messages to send for jobs of batches with a sink that have just ended well, or
--   ended, if it wants events.
-- Safe to repeat: yes, one delivery per sink and job, file, product or event.
-- Locks: none but new rows.
-- Plan: jobs, their names, attempts, files and rules by key.
-- The products are kept before (_after_ends). The message is made from these facts whenever it is sent, so it
--   is the same each time.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._record_messages(
    batch_ids bigint[], job_ids int[], states smallint[], at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO weft.callback_delivery (
        kind, batch_id, job_id, sink_id, file, tenant_id, url, host, body, order_key, created_at, next_at
    )
    SELECT
        'message', j.batch_id, j.job_id, s.sink_id, m.path, j.tenant_id, s.document ->> 'url',
        weft._host_of(s.document ->> 'url'),
        (
            jsonb_build_object(
                'id', format('b%s.j%s', j.batch_id, j.job_id),
                'batch_id', j.batch_id,
                'job_id', j.job_id,
                'name', n.name,
                'attributes', coalesce(n.attributes, '{}'),
                'attempt', a.attempt, 'exit_code', a.exit_code, 'started_at', a.started_at,
                'ended_at', a.ended_at, 'file', nullif(m.path, ''), 'product', m.message
            ) || m.more
        )::text,
        n.attributes ->> (s.document ->> 'order'),
        _record_messages.at,
        _record_messages.at
    FROM unnest(_record_messages.batch_ids, _record_messages.job_ids, _record_messages.states) t (b, j, state)
    JOIN weft.batch b ON b.batch_id = t.b AND b.sink_id IS NOT NULL AND b.deleted_at IS NULL
    JOIN weft.sink s ON s.sink_id = ANY (b.sink_id || b.more_sinks)
    JOIN weft.job j ON j.batch_id = t.b AND j.job_id = t.j
    JOIN weft.attempt a ON a.batch_id = t.b AND a.job_id = t.j AND a.attempt = j.attempt
    CROSS JOIN LATERAL (
        SELECT '' AS path, NULL AS message, '{}'::jsonb AS more
        WHERE s.document ->> 'each' IS NULL
            AND s.document ->> 'products' IS DISTINCT FROM 'true'
            AND s.document ->> 'events' IS DISTINCT FROM 'true'
        UNION ALL
        SELECT 'product ' || p.line, p.document::text, '{}'
        FROM weft.product p
        WHERE s.document ->> 'products' = 'true'
            AND p.batch_id = t.b
            AND p.job_id = t.j
            AND p.attempt = j.attempt
        UNION ALL
        SELECT f.path, f.message, '{}'
        FROM weft.job_file f
        WHERE s.document ->> 'each' IS NOT NULL
            AND f.batch_id = t.b
            AND f.job_id = t.j
            AND f.attempt = j.attempt
            AND f.message IS NOT NULL
        UNION ALL
        SELECT e.path, NULL, e.more
        FROM weft._run_events(a, t.state) e
        WHERE s.document ->> 'events' = 'true'
    ) m
    CROSS JOIN LATERAL (
        SELECT coalesce(l.name, r.name) AS name, coalesce(l.attributes, r.attributes) AS attributes
        FROM (SELECT) one
        LEFT JOIN weft.job_label l ON l.batch_id = t.b AND l.job_id = t.j
        LEFT JOIN weft.job_array r ON r.batch_id = t.b AND r.first_job = j.spec_first
    ) n
    WHERE (t.state = STATE_SUCCESS AND weft._has_products(j.lifecycle_id, a.exit_code))
        OR (t.state IN (STATE_FAILED, STATE_ERROR, STATE_CANCELLED) AND s.document ->> 'events' = 'true')
    ORDER BY a.ended_at, j.batch_id, j.job_id, s.sink_id, m.path
    ON CONFLICT DO NOTHING;
    IF FOUND THEN
        PERFORM pg_notify('driver', 'callback');
    END IF;
END $$;
