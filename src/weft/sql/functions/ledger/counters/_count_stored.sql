-- _count_stored: add what a fold found of stored bytes to the sums of batches, of their owners, and (user 0)
--   of tenants.
-- Safe to repeat: no.
-- Locks: sums.
-- Plan: batches and sums by key.
-- Of a batch that is being removed nothing counts any more (_stop_batch).
-- sums: of the deltas of the fold, without their groups.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._count_stored(sums weft.job_delta[]) RETURNS void LANGUAGE sql AS $$
    WITH part AS MATERIALIZED (
        SELECT d.tenant_id, d.batch_id, b.user_id, weft._saturated(sum(d.stored_bytes)) AS n_bytes
        FROM unnest(sums) d
        CROSS JOIN LATERAL (
            SELECT x.user_id FROM weft.batch x WHERE x.batch_id = d.batch_id AND NOT x.removing OFFSET 0
        ) b
        WHERE d.stored_bytes <> 0
        GROUP BY 1, 2, 3
    ),
    of_batch AS (
        INSERT INTO weft.batch_storage AS s (batch_id, tenant_id, n_bytes)
        SELECT p.batch_id, p.tenant_id, p.n_bytes
        FROM part p
        ON CONFLICT (batch_id) DO UPDATE
        SET n_bytes = weft._saturated(s.n_bytes + excluded.n_bytes)
    )
    INSERT INTO weft.user_storage AS s (tenant_id, user_id, n_bytes)
    SELECT p.tenant_id, coalesce(p.user_id, 0), weft._saturated(sum(p.n_bytes))
    FROM part p
    GROUP BY GROUPING SETS ((p.tenant_id, p.user_id), (p.tenant_id))
    ON CONFLICT (tenant_id, user_id) DO UPDATE
    SET n_bytes = weft._saturated(s.n_bytes + excluded.n_bytes)
$$;
