-- _limit_name: whose limit it is, as people write it.
-- Plan: by key.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._limit_name(of_limit weft.spend_limit) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT CASE
        WHEN of_limit.project_id IS NOT NULL
            THEN (
                SELECT format('billing project "%s"', p.name)
                FROM weft.billing_project p
                WHERE p.project_id = of_limit.project_id
            )
        WHEN of_limit.user_id IS NOT NULL
            THEN (
                SELECT format('user "%s"', u.name) FROM weft.tenant_user u WHERE u.user_id = of_limit.user_id
            )
        WHEN of_limit.group_id = 0 THEN format('batch b%s', of_limit.batch_id)
        ELSE (
            SELECT format('group "%s" of batch b%s', coalesce(g.path, g.name), g.batch_id)
            FROM weft.job_group g
            WHERE g.batch_id = of_limit.batch_id AND g.group_id = of_limit.group_id
        )
    END
$$;
