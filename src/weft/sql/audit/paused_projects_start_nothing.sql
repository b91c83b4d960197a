-- No job that a limit pauses was claimed and started after the pause was acknowledged.
-- What a worker had claimed before may still start there until it hears of the pause, some milliseconds
--   later.
SELECT x.batch_id, x.job_id, x.attempt, x.claimed_at, x.started_at, l.limit_id, l.applied_at, h.held_at
FROM weft.spend_limit l
JOIN weft.group_hold h ON h.limit_id = l.limit_id AND h.released_at IS NULL
JOIN weft._runs() x ON x.batch_id = h.batch_id
JOIN weft.job j ON j.batch_id = x.batch_id AND j.job_id = x.job_id
JOIN weft.group_ancestor n ON n.batch_id = j.batch_id
    AND n.group_id = j.group_id
    AND n.ancestor_id = h.group_id
-- A job may have joined a set since.
JOIN weft.job_group g ON g.batch_id = h.batch_id
    AND g.group_id = h.group_id
    AND NOT g.is_set
-- The driver is still at it where `applied_at` is missing, or a version was not judged.
WHERE l.stage = 'reached'
    AND l.on_limit = 'pause'
    AND l.applied_at IS NOT NULL
    AND l.judged_version = l.version
    AND x.started_at IS NOT NULL
    AND x.claimed_at > greatest(l.applied_at, h.held_at) + interval '1 second'
    AND NOT EXISTS (SELECT FROM weft.batch d WHERE d.batch_id = x.batch_id AND d.removing)
