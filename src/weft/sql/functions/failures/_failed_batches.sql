-- _failed_batches: batches that the caller sees, newest first, from one on (NULL: from the newest), in which jobs failed for good and are
--   acknowledged or not; some of them may have none by what is not folded yet.
-- Called by: list_dead_letters.   Safe to repeat: yes, it only reads.
-- Plan: inlined; causes and deltas backwards along their indexes, merged, until the caller has enough. Of callers who do not see the
--   tenant also those of batches of others.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._failed_batches(of_tenant_id int, upto bigint, are_acknowledged boolean) RETURNS SETOF bigint
LANGUAGE sql STABLE
AS $$
    SELECT f.batch_id FROM (
        SELECT DISTINCT x.batch_id FROM (
            (SELECT c.batch_id FROM weft.failure_cause c
             WHERE c.tenant_id = of_tenant_id AND c.batch_id <= coalesce(upto, 9223372036854775807) AND NOT are_acknowledged
                AND c.n_jobs > c.n_acknowledged ORDER BY c.tenant_id DESC, c.batch_id DESC)
            UNION ALL
            (SELECT c.batch_id FROM weft.failure_cause c
             WHERE c.tenant_id = of_tenant_id AND c.batch_id <= coalesce(upto, 9223372036854775807) AND are_acknowledged
                AND c.n_acknowledged > 0 ORDER BY c.tenant_id DESC, c.batch_id DESC)
            UNION ALL
            (SELECT d.batch_id FROM weft.failure_delta d WHERE d.batch_id <= coalesce(upto, 9223372036854775807)
             ORDER BY d.batch_id DESC)) x
        ORDER BY 1 DESC) f
    CROSS JOIN LATERAL (SELECT y.* FROM weft.batch y WHERE y.batch_id = f.batch_id AND y.deleted_at IS NULL OFFSET 0) b
    WHERE weft._permission(b.batch_id, b.user_id, b.project_id) > 0
$$;
