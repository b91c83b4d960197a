-- Each item of a series has its job after the one before it, unless it is marked that this one came late.
SELECT d.source_id, d.series, d.key AS before, e.key AS after, d.batch_id, d.job_id
FROM weft.source_item d
CROSS JOIN LATERAL (
    SELECT x.*
    FROM weft.source_item x
    WHERE x.source_id = d.source_id AND x.series = d.series AND x.series_at > d.series_at AND x.state = 'job'
    ORDER BY x.series_at, x.n
    LIMIT 1
) e
WHERE d.state = 'job'
    AND NOT d.late
    AND e.series_from <= d.series_at
    AND (e.batch_id, e.job_id) < (d.batch_id, d.job_id)
