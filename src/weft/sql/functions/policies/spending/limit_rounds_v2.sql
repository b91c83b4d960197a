-- limit_rounds_v2: limit_rounds_v3 as the release before calls it. That admits nothing, so what is near is new to it: it is judged, and
--   near no more.
-- Called by: DriverStore.limit_rounds of the release before; limit_rounds.   Safe to repeat: yes, it only reads.
-- Locks: as limit_rounds_v3.   Plan: as limit_rounds_v3.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.limit_rounds_v2(epoch bigint, at timestamptz DEFAULT clock_timestamp())
RETURNS TABLE (limit_id int, version int, is_new boolean, kind text, name text, tenant text, measure text, amount_max numeric,
    amount_soft_max numeric, on_limit text, stage text, used numeric, used_per_hour numeric)
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT r.limit_id, r.version, r.is_new OR r.near, r.kind, r.name, r.tenant, r.measure, r.amount_max, r.amount_soft_max, r.on_limit,
        r.stage, r.used, r.used_per_hour
    FROM weft.limit_rounds_v3(limit_rounds_v2.epoch, limit_rounds_v2.at) r
$$;
