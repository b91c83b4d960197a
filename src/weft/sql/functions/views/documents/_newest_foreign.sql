-- _newest_foreign: numbers of the batches of the newest jobs of a door that the caller sees, the newest
--   first.
-- Plan: for who sees the tenant, the door's by index; else a page of own ones along an index, and all that
--   were granted.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._newest_foreign(of_tenant_id int, of_door text, limit_rows int)
RETURNS SETOF bigint LANGUAGE plpgsql STABLE PLAN_IN_ORDER PLAN_ONCE AS $$
DECLARE
    v_caller int := weft._caller_id();
BEGIN
    IF v_caller IS NULL THEN
        RETURN QUERY
        SELECT b.batch_id
        FROM weft.batch b
        WHERE b.tenant_id = of_tenant_id
            AND b.door = of_door
            AND b.foreign_id IS NOT NULL
            AND b.deleted_at IS NULL
            AND NOT b.hidden
        ORDER BY b.batch_id DESC
        LIMIT limit_rows;
        RETURN;
    END IF;
    RETURN QUERY
    SELECT x.batch_id
    FROM (
        (
            SELECT b.batch_id
            FROM weft.batch b
            WHERE b.user_id = v_caller
                AND b.door = of_door
                AND b.foreign_id IS NOT NULL
                AND b.deleted_at IS NULL
                AND NOT b.hidden
            ORDER BY b.batch_id DESC
            LIMIT limit_rows
        ) UNION (
            SELECT b.batch_id
            FROM weft.batch_grant g
            CROSS JOIN LATERAL (SELECT y.* FROM weft.batch y WHERE y.batch_id = g.batch_id OFFSET 0) b
            WHERE g.job_id = 0
                AND g.user_id = v_caller
                AND b.door = of_door
                AND b.foreign_id IS NOT NULL
                AND b.deleted_at IS NULL
                AND NOT b.hidden
        )
    ) x
    ORDER BY x.batch_id DESC
    LIMIT limit_rows;
END $$;
