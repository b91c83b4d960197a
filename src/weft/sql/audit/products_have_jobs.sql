-- Products are kept of the last attempt of a job that ended well, and stay when it is gone; those of attempts
--   that go on are not kept yet.
SELECT p.product_id, p.batch_id, p.job_id, p.attempt, j.attempt AS last_attempt, j.state, p.kept_at
FROM weft.product p
LEFT JOIN weft.batch b ON b.batch_id = p.batch_id
LEFT JOIN weft.job j ON j.batch_id = p.batch_id AND j.job_id = p.job_id
WHERE (p.kept_at IS NULL AND b.batch_id IS NULL)
    OR (
        j.job_id IS NOT NULL
            AND (p.kept_at IS NOT NULL) <> (j.state = STATE_SUCCESS AND p.attempt = j.attempt)
    )
    OR (
        b.batch_id IS NOT NULL
            AND (b.tenant_id, b.user_id, b.project_id, b.has_products)
                IS DISTINCT FROM (p.tenant_id, p.user_id, p.project_id, true)
    )
