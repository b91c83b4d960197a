-- _limit_documents: what the api says of limits of the caller's tenant, also of one that was taken away, in
--   the order of their numbers.
-- Plan: limits by key; as _spending.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._limit_documents(of_limit_ids int[]) RETURNS SETOF jsonb
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    WITH limited AS MATERIALIZED (
        SELECT l.*
        FROM weft.spend_limit l
        WHERE l.limit_id = ANY (of_limit_ids) AND l.tenant_id = current_setting('weft.tenant')::int
    )
    SELECT jsonb_build_object(
        'id', l.limit_id, 'kind', weft._limit_kind(l), 'project', p.name, 'user', u.name,
        'batch_id', l.batch_id, 'group_id', l.group_id,
        'path', coalesce(g.path, g.name),
        'measure', l.measure,
        'amount_max', l.amount_max,
        'amount_soft_max', l.amount_soft_max,
        'on_limit', l.on_limit,
        'until', l.until,
        'limit_state', weft._limit_state(l.stage, l.on_limit, l.near),
        'amount', round(s.used, 12),
        'amount_per_hour', round(s.used_per_hour, 12),
        'limit_in_s', weft._limit_in_s(l, s.used, s.used_per_hour)
    )
    FROM limited l
    JOIN weft._spending(ARRAY(SELECT x.limit_id FROM limited x), clock_timestamp()) s
    USING (limit_id)
    LEFT JOIN weft.billing_project p ON p.project_id = l.project_id
    LEFT JOIN weft.tenant_user u ON u.user_id = l.user_id
    LEFT JOIN weft.job_group g ON g.batch_id = l.batch_id AND g.group_id = l.group_id
    ORDER BY l.limit_id
$$;
