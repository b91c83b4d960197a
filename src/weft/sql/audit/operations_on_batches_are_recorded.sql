-- An operation on many batches has an entry in the trail for each batch that it has changed, and none has
--   two.
-- Retention may have removed those of an operation that is older than the oldest one that is kept.
WITH entry AS MATERIALIZED (
    SELECT x.path, x.batch_id
    FROM weft.trail_entry x
    WHERE x.path LIKE '/v1/operations/%' AND x.batch_id IS NOT NULL
    UNION ALL
    SELECT x.path, x.batch_id
    FROM weft.trail_unsealed x
    WHERE x.path LIKE '/v1/operations/%' AND x.batch_id IS NOT NULL
)
SELECT
    o.operation_id,
    (o.result ->> 'n_changed')::bigint AS n_changed,
    count(e.batch_id) AS n_entries,
    count(DISTINCT e.batch_id) AS n_batches
FROM weft.operation o
LEFT JOIN entry e ON e.path = format('/v1/operations/%s', o.operation_id)
WHERE o.kind = 'batch_action'
    AND (
        (SELECT h.removed_number FROM weft.trail_head h) = 0
            OR o.created_at > (SELECT x.sealed_at FROM weft.trail_entry x ORDER BY x.number LIMIT 1)
    )
GROUP BY o.operation_id
HAVING count(e.batch_id) <> (o.result ->> 'n_changed')::bigint
    OR count(DISTINCT e.batch_id) <> count(e.batch_id)
