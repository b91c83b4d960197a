-- many_keys: make $2 batches as batch $1, each with a key of its own.
INSERT INTO weft.batch (tenant_id, user_id, project_id, queue_id, name, trace_id, created_at, unique_key)
SELECT
    b.tenant_id,
    b.user_id,
    b.project_id,
    b.queue_id,
    b.name,
    b.trace_id,
    b.created_at,
    format('held-%s', md5(n::text))
FROM weft.batch b
CROSS JOIN generate_series(1, $2::int) n
WHERE b.batch_id = $1
