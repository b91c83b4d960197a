-- _leave_to_sleeper: whether a worker that sleeps has room for a job now, which the one that claims has not;
--   it is woken.
-- Safe to repeat: yes.
-- For: claim_jobs, if the first job exceeds its budget.
-- Left out: workers as by _sleepers; and jobs that take amounts of a lane.
-- Plan: as _sleepers; as _live_attempts. It runs with the settings of its caller.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._leave_to_sleeper(
    worker weft.worker_incarnation, of_lane_id int, needs_cpu_m bigint, needs_memory_mib bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_other int;
BEGIN
    SELECT a.incarnation_id
    INTO v_other
    FROM weft._sleepers(worker.pool_id, of_lane_id, needs_cpu_m, needs_memory_mib) a
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(j.cpu_m), 0) AS cpu_m, coalesce(sum(j.memory_mib), 0) AS memory_mib
        FROM weft._live_attempts(a.incarnation_id) j
    ) u
    WHERE a.incarnation_id <> worker.incarnation_id
        AND u.cpu_m + needs_cpu_m <= a.cpu_m
        AND u.memory_mib + needs_memory_mib <= a.memory_mib
        AND NOT EXISTS (SELECT FROM weft.lane l WHERE l.lane_id = of_lane_id AND l.amounts <> '{}')
    LIMIT 1;
    -- Little work wakes only some of many sleepers (ADR 38), perhaps not this one.
    PERFORM pg_notify('work', worker.pool_id || ':' || v_other) WHERE v_other IS NOT NULL;
    RETURN v_other IS NOT NULL;
END $$;
