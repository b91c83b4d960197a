-- _failed_batches: batches of a tenant, newest first, from one on (NULL: from the newest), in which jobs
--   failed for good and are acknowledged or not; some of them may have none by what is not folded yet. For
--   callers who see the tenant.
-- of_cause_id, of_reason: only those in which jobs failed for it; NULL: any.
-- Plan: inlined; causes along one of their indexes, and deltas, backwards and merged, until the caller has
--   enough.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._failed_batches(
    of_tenant_id int, upto bigint, are_acknowledged boolean, of_cause_id bigint, of_reason smallint
) RETURNS SETOF bigint LANGUAGE sql STABLE AS $$
    SELECT f.batch_id
    FROM (
        SELECT DISTINCT x.batch_id
        FROM (
            (
                SELECT c.batch_id
                FROM weft.failure_cause c
                WHERE c.tenant_id = of_tenant_id
                    AND c.batch_id <= coalesce(upto, 9223372036854775807)
                    AND NOT are_acknowledged
                    AND of_cause_id IS NULL
                    AND of_reason IS NULL
                    AND c.n_jobs > c.n_acknowledged
                ORDER BY c.tenant_id DESC, c.batch_id DESC
            ) UNION ALL (
                SELECT c.batch_id
                FROM weft.failure_cause c
                WHERE c.tenant_id = of_tenant_id
                    AND c.batch_id <= coalesce(upto, 9223372036854775807)
                    AND are_acknowledged
                    AND of_cause_id IS NULL
                    AND of_reason IS NULL
                    AND c.n_acknowledged > 0
                ORDER BY c.tenant_id DESC, c.batch_id DESC
            ) UNION ALL (
                SELECT c.batch_id
                FROM weft.failure_cause c
                WHERE c.tenant_id = of_tenant_id
                    AND c.cause_id = of_cause_id
                    AND c.batch_id <= coalesce(upto, 9223372036854775807)
                ORDER BY c.cause_id DESC, c.tenant_id DESC, c.batch_id DESC
            ) UNION ALL (
                SELECT c.batch_id
                FROM weft.failure_cause c
                WHERE c.tenant_id = of_tenant_id
                    AND c.reason = of_reason
                    AND c.batch_id <= coalesce(upto, 9223372036854775807)
                    AND of_cause_id IS NULL
                ORDER BY c.reason DESC, c.tenant_id DESC, c.batch_id DESC
            ) UNION ALL (
                SELECT d.batch_id
                FROM weft.failure_delta d
                WHERE d.batch_id <= coalesce(upto, 9223372036854775807)
                ORDER BY d.batch_id DESC
            )
        ) x
        ORDER BY 1 DESC
    ) f
    CROSS JOIN LATERAL (
        SELECT y.* FROM weft.batch y WHERE y.batch_id = f.batch_id AND y.deleted_at IS NULL OFFSET 0
    ) b
$$;
