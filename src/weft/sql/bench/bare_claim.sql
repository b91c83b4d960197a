-- bare_claim: the first of the bare queue's two updates.
WITH picked AS (
    SELECT id FROM bare.queue WHERE state = 1 AND id >= $2 ORDER BY id LIMIT $1 FOR UPDATE SKIP LOCKED
)
UPDATE bare.queue q
SET state = 3
FROM picked p
WHERE q.id = p.id
RETURNING q.id
