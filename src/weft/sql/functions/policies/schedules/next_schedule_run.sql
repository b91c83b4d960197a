-- next_schedule_run: in how much time another api may submit a run that one has taken, none of these tenants.
-- Plan: runs that wait, which are few.
-- Returns: negative: now; NULL: no run waits.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.next_schedule_run(besides int[]) RETURNS interval
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT min(coalesce(r.taken_until, clock_timestamp())) - clock_timestamp()
    FROM weft.schedule_run r
    JOIN weft.schedule s
    USING (schedule_id)
    WHERE r.ended_at IS NULL AND s.tenant_id <> ALL (besides)
$$;
