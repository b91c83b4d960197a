-- limit_rounds: what the driver has to know to decide how far billing projects with limits are.
-- Called by: DriverStore.limit_rounds.   Safe to repeat: yes, it only reads.   Locks: as _check_term.
-- Plan: nothing if no project has a limit; else as _spending.
-- Returns: one row per limit, also for one that was taken away, until that is done; is_new: no stage was stored since it was changed.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.limit_rounds(epoch bigint, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (limit_id int, version int, is_new boolean, project text, tenant text, cost_max numeric, cost_soft_max numeric,
    on_limit text, stage text, spent numeric, cost_per_hour numeric)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
BEGIN
    PERFORM weft._check_term(limit_rounds.epoch);
    IF NOT EXISTS (SELECT FROM weft.spend_limit) THEN
        RETURN;
    END IF;
    RETURN QUERY
    SELECT l.limit_id, l.version, l.judged_version IS DISTINCT FROM l.version, p.name, t.name, l.cost_max, l.cost_soft_max, l.on_limit,
        l.stage, s.spent, s.cost_per_hour
    FROM weft._spending(ARRAY(SELECT x.project_id FROM weft.spend_limit x
        WHERE x.cost_max IS NOT NULL OR x.cost_soft_max IS NOT NULL OR x.stage <> 'below' OR x.applied_at IS NULL
            OR x.judged_version IS DISTINCT FROM x.version), limit_rounds.at) s
    JOIN weft.spend_limit l USING (project_id) JOIN weft.billing_project p USING (project_id)
    JOIN weft.tenant t ON t.tenant_id = l.tenant_id ORDER BY l.limit_id;
END $$;
