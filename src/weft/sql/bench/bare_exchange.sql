-- bare_exchange: both updates of the bare queue in one statement, for other jobs each.
WITH picked AS (
    SELECT id FROM bare.queue WHERE state = 1 AND id >= $2 ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
),
done AS (UPDATE bare.queue SET state = 4 WHERE id = ANY ($3::bigint[]) AND state = 3)
UPDATE bare.queue q
SET state = 3
FROM picked p
WHERE q.id = p.id
RETURNING q.id
