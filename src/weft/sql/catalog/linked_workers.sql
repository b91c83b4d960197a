-- The workers that are linked through an api and are of another release than $1: no session of the database
--   shows them.
SELECT w.name, w.host, i.version
FROM weft.worker_incarnation i
JOIN weft.worker w
USING (worker_id)
WHERE i.ended_at IS NULL AND i.token_id IS NOT NULL AND i.version <> $1::text
ORDER BY w.name, i.incarnation_id
LIMIT 1000
