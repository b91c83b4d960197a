-- judge_limit: judge_limit_v2 as the release before calls it, which admits nothing near a limit: so none is near.
-- Called by: DriverStore.judge_limit of the release before.   Safe to repeat: yes.
-- Locks: as judge_limit_v2.   Plan: as judge_limit_v2.   Returns: as judge_limit_v2.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.judge_limit(epoch bigint, limit_id int, version int, stage text) RETURNS boolean
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
    SELECT weft.judge_limit_v2(judge_limit.epoch, judge_limit.limit_id, judge_limit.version, judge_limit.stage, false)
$$;
