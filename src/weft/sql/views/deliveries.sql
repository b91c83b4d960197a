-- deliveries: each message of a sink, and what became of it.
CREATE OR REPLACE VIEW weft_views.deliveries AS
SELECT
    d.delivery_id,
    k.name AS sink,
    format('b%s.j%s', d.batch_id, d.job_id) AS job,
    d.batch_id,
    d.job_id,
    nullif(d.file, '') AS file,
    CASE
        WHEN d.delivered_at IS NOT NULL THEN 'delivered'
        WHEN d.held = 'dropped' THEN 'dropped'
        WHEN d.next_at IS NOT NULL THEN 'pending'
        WHEN d.held = 'held' THEN 'held'
        ELSE 'given up'
    END AS state,
    d.created_at, d.tried_at, d.delivered_at, d.n_attempts, d.last_status
FROM weft.callback_delivery d
JOIN weft.sink k ON k.sink_id = d.sink_id
WHERE d.kind = 'message';
ALTER VIEW weft_views.deliveries OWNER TO weft_views;
GRANT SELECT ON weft_views.deliveries TO PUBLIC;
