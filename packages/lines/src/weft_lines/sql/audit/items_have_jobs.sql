-- Each item of a source has one job, or says why not; one that waits is looked at; what is being submitted is
--   recorded by an api.
SELECT s.source_id, i.n, i.key, i.state, i.batch_id, i.job_id
FROM weft.source s
JOIN weft.source_item i
USING (source_id)
WHERE i.tenant_id <> s.tenant_id
    OR i.n > s.last_n
    OR (
        i.state = 'job'
            AND NOT EXISTS (SELECT FROM weft.job j WHERE j.batch_id = i.batch_id AND j.job_id = i.job_id)
            AND EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = i.batch_id AND NOT b.removing)
    )
    OR (i.state IN ('new', 'waiting', 'ready') AND s.next_at IS NOT NULL AND s.work_at IS NULL)
UNION ALL
SELECT min(i.source_id), min(i.n), min(i.key), 'job', i.batch_id, i.job_id
FROM weft.source_item i
WHERE i.state = 'job'
GROUP BY i.batch_id, i.job_id
HAVING count(*) > 1
