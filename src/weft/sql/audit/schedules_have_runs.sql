-- Each schedule is paused or due after the runs it has, which are of its tenant and have batches of their
--   own.
SELECT s.schedule_id, r.due_at, s.next_at, s.paused_at, r.batch_id
FROM weft.schedule s
LEFT JOIN weft.schedule_run r
USING (schedule_id)
WHERE (s.next_at IS NULL) <> (s.paused_at IS NOT NULL)
    OR r.tenant_id <> s.tenant_id
    OR (r.due_at IS NOT NULL AND r.ended_at IS NULL AND s.pause_reason <> 'over')
    OR (r.ended_at IS NULL AND s.next_at <= r.due_at)
UNION ALL
SELECT min(r.schedule_id), min(r.due_at), NULL, NULL, r.batch_id
FROM weft.schedule_run r
WHERE r.batch_id IS NOT NULL
GROUP BY r.batch_id
HAVING count(*) > 1
