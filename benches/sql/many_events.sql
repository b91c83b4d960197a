-- many_events: let $2 events have happened to the batch $1.
INSERT INTO weft.event (at, batch_id, tenant_id, kind)
SELECT clock_timestamp(), b.batch_id, b.tenant_id, 'batch.edited'
FROM weft.batch b
CROSS JOIN generate_series(1, $2::int)
WHERE b.batch_id = $1
