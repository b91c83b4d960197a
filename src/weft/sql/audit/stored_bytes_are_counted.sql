-- What is stored for a batch is the output of its attempts, the specs of committed jobs and its payloads, folded and not folded together.
WITH recent AS (
    SELECT d.batch_id, sum(d.stored_bytes) AS n_bytes FROM weft.fold f
    JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto) GROUP BY 1),
of_batch AS (
    SELECT b.batch_id, coalesce(s.n_bytes, 0) + coalesce(r.n_bytes, 0) AS counted, (
            SELECT coalesce(sum(weft._kept_bytes(a.stdout_bytes, a.stderr_bytes, a.truncated)), 0) FROM weft.attempt a
            WHERE a.batch_id = b.batch_id) + (
            SELECT coalesce(sum(octet_length(p.body)), 0) FROM weft.job_spec p
            JOIN weft.batch_update u ON u.batch_id = p.batch_id AND p.first_job >= u.first_job AND p.first_job < u.first_job + u.n_jobs
            WHERE p.batch_id = b.batch_id AND u.committed_at IS NOT NULL) + (
            SELECT coalesce(sum(octet_length(p.body)), 0) FROM weft.batch_payload p WHERE p.batch_id = b.batch_id) AS recounted
    FROM weft.batch b LEFT JOIN weft.batch_storage s USING (batch_id) LEFT JOIN recent r USING (batch_id)
    WHERE b.bytes_counted AND NOT b.removing),
-- The sums of users and tenants are those of their batches.
of_user AS (
    SELECT b.tenant_id, coalesce(b.user_id, 0) AS user_id, sum(s.n_bytes) AS n_bytes
    FROM weft.batch_storage s JOIN weft.batch b USING (batch_id)
    WHERE NOT b.removing GROUP BY GROUPING SETS ((b.tenant_id, b.user_id), (b.tenant_id)))
SELECT o.batch_id, NULL::int AS tenant_id, NULL::int AS user_id, o.counted, o.recounted FROM of_batch o WHERE o.counted <> o.recounted
UNION ALL
SELECT NULL, tenant_id, user_id, coalesce(s.n_bytes, 0), coalesce(o.n_bytes, 0)
FROM weft.user_storage s FULL JOIN of_user o USING (tenant_id, user_id) WHERE coalesce(s.n_bytes, 0) <> coalesce(o.n_bytes, 0)
