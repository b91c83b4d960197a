-- Each service that has not ended has its name, so no other one of the name runs.
-- Once it has its name it may be called otherwise.
SELECT l.batch_id, l.job_id, l.name
FROM weft.job_label l
JOIN weft.job j ON j.batch_id = l.batch_id AND j.job_id = l.job_id AND j.state < STATE_SUCCESS
JOIN weft.batch b ON b.batch_id = l.batch_id AND NOT b.removing
WHERE l.rare_fields ? 'service'
    AND NOT EXISTS (SELECT FROM weft.service s WHERE s.batch_id = l.batch_id AND s.job_id = l.job_id)
