-- get_door_jobs: jobs that came through a door, by the numbers of their batches and in their order; those
--   that the caller does not see there are left out (_own_permission).
-- Safe to repeat: yes, it only reads.
-- For: Store.list_door_jobs (api), after the statement of weft.store.query_sql.
-- Plan: by key.
-- Returns: as _door_jobs.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_door_jobs(tenant_id int, batch_ids bigint[]) RETURNS SETOF jsonb
LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
BEGIN
    RETURN QUERY
    SELECT d.*
    FROM weft._door_jobs(
        ARRAY(
            SELECT t.id
            FROM unnest(get_door_jobs.batch_ids) WITH ORDINALITY t (id, n)
            CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = t.id OFFSET 0) b
            WHERE b.foreign_document IS NOT NULL
                AND b.deleted_at IS NULL
                AND weft._own_permission(b.batch_id, b.user_id) > 0
            ORDER BY t.n
        )
    ) d;
END $$;
