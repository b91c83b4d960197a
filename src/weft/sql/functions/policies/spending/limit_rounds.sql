-- limit_rounds: as limit_rounds_v2, as drivers of the previous release read it.
-- Called by: drivers of the previous release; kept for one release.   Safe to repeat: yes, it only reads.
-- Locks: as limit_rounds_v2.   Plan: as limit_rounds_v2.
-- Returns: one row per limit; cost_max, cost_soft_max, spent and cost_per_hour are in the measure of the limit.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.limit_rounds(epoch bigint, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (limit_id int, version int, is_new boolean, project text, tenant text, cost_max numeric, cost_soft_max numeric,
    on_limit text, stage text, spent numeric, cost_per_hour numeric)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.limit_id, r.version, r.is_new, r.name, r.tenant, r.amount_max, r.amount_soft_max, r.on_limit, r.stage, r.used,
        r.used_per_hour
    FROM weft.limit_rounds_v2(limit_rounds.epoch, limit_rounds.at) r
$$;
