-- _project_forecasts: limits of the tenant's billing projects, and when they are reached if what runs goes on: fields of their documents.
-- Called by: list_projects.   Safe to repeat: yes, it only reads.   Plan: limits by key; as _spending, of projects that have a limit.
-- Returns: no row for a project without a limit. `limit_in_s`: NULL if nothing runs, it is reached, or there is none.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._project_forecasts(of_project_ids int[]) RETURNS TABLE (project_id int, facts jsonb)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    WITH limited AS MATERIALIZED (
        SELECT l.* FROM weft.spend_limit l
        WHERE l.project_id = ANY (of_project_ids) AND l.tenant_id = current_setting('weft.tenant')::int)
    SELECT l.project_id, jsonb_build_object('cost_max', l.cost_max, 'cost_soft_max', l.cost_soft_max, 'on_limit', l.on_limit,
        'limit_state', CASE WHEN l.stage <> 'reached' THEN l.stage WHEN l.on_limit = 'pause' THEN 'paused' ELSE 'cancelled' END,
        'cost_per_hour', round(s.cost_per_hour, 12),
        'limit_in_s', CASE WHEN l.cost_max IS NOT NULL AND l.stage <> 'reached' AND s.cost_per_hour > 0
            THEN round(greatest(l.cost_max - s.spent, 0) / s.cost_per_hour * 3600) END)
    FROM limited l JOIN weft._spending(ARRAY(SELECT x.project_id FROM limited x), clock_timestamp()) s USING (project_id)
$$;
