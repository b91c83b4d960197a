-- _leave_to_sleeper: whether a worker that sleeps has room for a job now, which the one that claims has not; it is woken.
-- Safe to repeat: yes.   For: claim_jobs, if the first job exceeds its budget.
-- Left out: workers that are kept for another job, have slots, or have claimed more than 1,000 jobs since their heartbeat; and jobs that
--   take amounts of a lane.
-- Plan: sleeping workers of the pool, at most 20; as _live_attempts. It runs with the settings of its caller.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._leave_to_sleeper(
    worker weft.worker_incarnation, of_lane_id int, needs_cpu_m bigint, needs_memory_mib bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_other int;
BEGIN
    SELECT a.incarnation_id INTO v_other
    FROM (
        SELECT i.incarnation_id, i.cpu_m, i.memory_mib FROM weft.worker_incarnation i
        JOIN weft.worker_lane l ON l.incarnation_id = i.incarnation_id AND l.lane_id = of_lane_id
        WHERE i.pool_id = worker.pool_id AND i.ended_at IS NULL AND i.waiting AND NOT i.cordoned AND NOT i.draining
          AND i.incarnation_id <> worker.incarnation_id AND i.cpu_m >= needs_cpu_m AND i.memory_mib >= needs_memory_mib
          AND NOT coalesce(i.offers ? 'slots', false)
          AND NOT EXISTS (SELECT FROM weft.reservation r WHERE r.incarnation_id = i.incarnation_id)
          AND (SELECT coalesce(sum(cardinality(c.jobs)), 0) <= 1000 FROM weft.claim c WHERE c.incarnation_id = i.incarnation_id)
        LIMIT 20) a
    CROSS JOIN LATERAL (SELECT coalesce(sum(j.cpu_m), 0) AS cpu_m, coalesce(sum(j.memory_mib), 0) AS memory_mib
        FROM weft._live_attempts(a.incarnation_id) j) u
    WHERE u.cpu_m + needs_cpu_m <= a.cpu_m AND u.memory_mib + needs_memory_mib <= a.memory_mib
      AND NOT EXISTS (SELECT FROM weft.lane l WHERE l.lane_id = of_lane_id AND l.amounts <> '{}')
    LIMIT 1;
    -- Little work wakes only some of many sleepers (ADR 38), perhaps not this one.
    PERFORM pg_notify('work', worker.pool_id || ':' || v_other) WHERE v_other IS NOT NULL;
    RETURN v_other IS NOT NULL;
END $$;
