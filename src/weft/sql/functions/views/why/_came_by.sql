-- _came_by: through which door a batch came, its id there, and the application of its jobs if they have one;
--   a field that is not known is missing.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._came_by(of_batch_id bigint) RETURNS jsonb
LANGUAGE sql STABLE PLAN_BY_KEY PLAN_ONCE AS $$
    SELECT jsonb_strip_nulls(
        jsonb_build_object(
            'door', b.door,
            'foreign_id', b.foreign_id,
            'app', (
                SELECT CASE WHEN count(*) = 1 THEN min(r.name) END
                FROM weft.app_use u
                JOIN weft.app_revision r
                USING (revision_id)
                WHERE u.batch_id = b.batch_id
            )
        )
    )
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id
$$;
