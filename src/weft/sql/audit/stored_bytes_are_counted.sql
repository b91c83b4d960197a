-- What is stored for a batch is the output of its attempts, specs that were sent, its payloads, files and
--   notes, folded and not folded together.
WITH counted AS (
    SELECT x.batch_id, sum(x.n_bytes) AS n_bytes
    FROM (
        SELECT s.batch_id, s.n_bytes
        FROM weft.batch_storage s
        UNION ALL
        SELECT d.batch_id, d.stored_bytes
        FROM weft._unfolded() d
    ) x
    GROUP BY 1
),
recounted AS (
    SELECT x.batch_id, sum(x.n_bytes) AS n_bytes
    FROM (
        SELECT a.batch_id, weft._kept_bytes(a.stdout_bytes, a.stderr_bytes, a.truncated) AS n_bytes
        FROM weft.attempt a
        UNION ALL
        SELECT p.batch_id, octet_length(p.body)
        FROM weft.job_spec p
        JOIN weft.job j ON j.batch_id = p.batch_id AND j.job_id = p.first_job
        JOIN weft.batch_update u ON u.batch_id = j.batch_id + 0 AND u.update_id = j.update_id
        WHERE u.committed_at IS NOT NULL
            OR EXISTS (
                SELECT
                FROM weft.bunch x
                WHERE x.batch_id = p.batch_id
                    AND x.update_id = u.update_id
                    AND x.n_bytes IS NOT NULL
                    AND p.first_job >= x.first_job
                    AND p.first_job < x.first_job + x.n_jobs
            )
        UNION ALL
        SELECT p.batch_id, octet_length(p.body)
        FROM weft.batch_payload p
        UNION ALL
        SELECT f.batch_id, f.n_bytes
        FROM weft.job_file f
        WHERE f.address IS NULL AND f.from_batch IS NULL
        UNION ALL
        SELECT n.batch_id, octet_length(n.body)
        FROM weft.job_note n
        UNION ALL
        SELECT o.batch_id, -o.n_bytes
        FROM weft.output_term o
    ) x
    GROUP BY 1
),
-- The sums of users and tenants are those of their batches.
of_user AS (
    SELECT b.tenant_id, coalesce(b.user_id, 0) AS user_id, sum(s.n_bytes) AS n_bytes
    FROM weft.batch_storage s
    JOIN weft.batch b
    USING (batch_id)
    WHERE NOT b.removing
    GROUP BY GROUPING SETS ((b.tenant_id, b.user_id), (b.tenant_id))
)
SELECT
    b.batch_id,
    NULL::int AS tenant_id,
    NULL::int AS user_id,
    coalesce(c.n_bytes, 0) AS counted,
    coalesce(r.n_bytes, 0) AS recounted
FROM weft.batch b
LEFT JOIN counted c
USING (batch_id)
LEFT JOIN recounted r
USING (batch_id)
WHERE b.bytes_counted AND NOT b.removing AND coalesce(c.n_bytes, 0) <> coalesce(r.n_bytes, 0)
UNION ALL
SELECT NULL, tenant_id, user_id, coalesce(s.n_bytes, 0), coalesce(o.n_bytes, 0)
FROM weft.user_storage s
FULL JOIN of_user o
USING (tenant_id, user_id)
WHERE coalesce(s.n_bytes, 0) <> coalesce(o.n_bytes, 0)
