-- _project_forecasts: limits of what the tenant's billing projects may cost, and when they are reached if
--   what runs goes on: fields of their documents.
-- Plan: limits by key; as _spending, of projects that have a limit.
-- Returns: no row for a project without a limit. `limit_in_s`: NULL if nothing runs, it is reached, or there
--   is none.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._project_forecasts(of_project_ids int[])
RETURNS TABLE (project_id int, facts jsonb) LANGUAGE sql STABLE SECURITY DEFINER AS $$
    WITH limited AS MATERIALIZED (
        SELECT l.*
        FROM weft.spend_limit l
        WHERE l.project_id = ANY (of_project_ids)
            AND l.measure = 'cost'
            AND l.tenant_id = current_setting('weft.tenant')::int
    )
    SELECT
        l.project_id,
        jsonb_build_object(
            'cost_max', l.amount_max,
            'cost_soft_max', l.amount_soft_max,
            'on_limit', l.on_limit,
            'limit_state', weft._limit_state(l.stage, l.on_limit, l.near),
            'cost_per_hour', round(s.used_per_hour, 12),
            'limit_in_s', weft._limit_in_s(l, s.used, s.used_per_hour)
        )
    FROM limited l
    JOIN weft._spending(ARRAY(SELECT x.limit_id FROM limited x), clock_timestamp()) s
    USING (limit_id)
$$;
