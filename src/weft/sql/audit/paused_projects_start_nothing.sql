-- No job of a paused billing project was started after the pause was acknowledged.
SELECT x.batch_id, x.job_id, x.attempt, x.started_at, l.limit_id, l.applied_at, h.held_at
FROM weft.spend_limit l
JOIN weft.group_hold h ON h.limit_id = l.limit_id AND h.released_at IS NULL
JOIN (SELECT a.batch_id, a.job_id, a.attempt, a.started_at FROM weft.attempt a
      UNION ALL SELECT j.batch_id, j.job_id, j.attempt, j.started_at FROM weft.job j WHERE j.state = STATE_RUNNING) x
    ON x.batch_id = h.batch_id
WHERE l.stage = 'reached' AND l.on_limit = 'pause' AND x.started_at > greatest(l.applied_at, h.held_at) + interval '100 milliseconds'
  AND NOT EXISTS (SELECT FROM weft.batch d WHERE d.batch_id = x.batch_id AND d.removing)
