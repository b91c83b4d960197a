-- No job was claimed after its cancel was acknowledged, except always_run jobs without force.
-- A batch that is being removed is incomplete.
SELECT x.batch_id, x.job_id, x.attempt, x.claimed_at, c.group_id, c.cancelled_at
FROM weft._runs() x
JOIN weft.job j ON j.batch_id = x.batch_id AND j.job_id = x.job_id
JOIN weft.group_ancestor n ON n.batch_id = j.batch_id AND n.group_id = j.group_id
JOIN weft.group_cancel c ON c.batch_id = n.batch_id AND c.group_id = n.ancestor_id
-- The cancel is dated before it waits for claims that are under way; those may be some milliseconds younger.
WHERE x.claimed_at > c.cancelled_at + interval '1 second'
    AND NOT j.always_run
UNION ALL
SELECT x.batch_id, x.job_id, x.attempt, x.claimed_at, NULL, c.cancelled_at
FROM weft.job_cancel c
JOIN weft._runs() x ON x.batch_id = c.batch_id AND x.job_id = c.job_id
WHERE x.claimed_at > c.cancelled_at + interval '1 second'
