-- many_messages: copies of the first message of a sink, each about another file of its job, and due at once.
WITH made AS (
    INSERT INTO weft.callback_delivery (kind, batch_id, job_id, sink_id, file, tenant_id, url, host, body, created_at, next_at)
    SELECT d.kind, d.batch_id, d.job_id, d.sink_id, n::text, d.tenant_id, d.url, d.host,
        (d.body::jsonb || jsonb_build_object('file', n))::text, now(), now()
    FROM weft.callback_delivery d, generate_series($1::int, $1::int + $2::int - 1) n
    WHERE d.delivery_id = (SELECT min(x.delivery_id) FROM weft.callback_delivery x)
    RETURNING 1)
SELECT pg_notify('driver', 'callback'), count(*) FROM made
