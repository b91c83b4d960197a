-- many_messages: copies of the first message of a sink for the jobs 1 to $2 of a batch, all due at once.
WITH made AS (
    INSERT INTO weft.callback_delivery (
        kind, batch_id, job_id, sink_id, tenant_id, url, host, body, created_at, next_at
    )
    SELECT
        d.kind, $1::bigint, n, d.sink_id, d.tenant_id, d.url, d.host,
        (d.body::jsonb || jsonb_build_object('job_id', n))::text,
        now(),
        now()
    FROM weft.callback_delivery d, generate_series(1, $2::int) n
    WHERE d.delivery_id = (SELECT min(x.delivery_id) FROM weft.callback_delivery x)
    RETURNING 1
)
SELECT pg_notify('driver', 'callback'), count(*)
FROM made
