-- test_gateway: whether the engine of a gateway answers: the tester `gateway` of a condition. It does not
--   while an attempt that the gateway gave to it seconds ago got no answer: such an attempt stays in the
--   phase submitting. A gateway that is silent or gone holds nobody up.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: the condition by key; workers of this name in the pools that serve its tenant; as _live_attempts of
--   each.
-- Returns: passed, and what to tell the owners of the jobs.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.test_gateway(
    epoch bigint, of_condition_id bigint, of_worker text, OUT passed boolean, OUT message text
) LANGUAGE plpgsql AS $$
DECLARE
    v_found int;
    v_stuck bigint;
BEGIN
    SELECT count(DISTINCT i.incarnation_id), count(j.job_id)
    INTO v_found, v_stuck
    FROM weft.condition c
    JOIN weft.worker w ON w.name = of_worker
    JOIN weft.worker_incarnation i ON i.worker_id = w.worker_id AND i.ended_at IS NULL AND i.outlives
    JOIN weft.pool p ON p.pool_id = i.pool_id AND weft._serves_tenant(p, c.tenant_id)
    LEFT JOIN LATERAL (
        SELECT a.job_id
        FROM weft._live_attempts(i.incarnation_id) a
        WHERE a.phase = PHASE_SUBMITTING AND a.claimed_at < clock_timestamp() - interval '5 seconds'
    ) j ON true
    WHERE c.condition_id = of_condition_id AND weft._worker_state(w, i) <> 'silent';
    passed := v_stuck = 0;
    message := CASE
        WHEN v_found = 0 THEN format('gateway %s is not there, so others may take them', left(of_worker, 40))
        WHEN passed THEN format('the engine of gateway %s answers', of_worker)
        ELSE format('the engine of gateway %s has not answered %s submissions', of_worker, v_stuck)
    END;
END $$;
