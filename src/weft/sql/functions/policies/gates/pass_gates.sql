-- pass_gates: one bounded step: open gates whose date has come; or admit jobs at gates that were locked when
--   something changed; or give jobs that were there before a first quota of cores its gates; or let admitted
--   jobs that no worker claims give their places to others, and not try again for a minute.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; as _sweep_cores (instead); gate_return (nobody else); gate (in order); as
--   _pass_gates.
-- Plan: as _open_gates; notes by key, at most 100 gates per call; as _sweep_cores; as _stuck_places.
-- Returns: how many jobs it moved, at least 1 while work remains.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.pass_gates(
    epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_gates int[];
    v_stuck record;
    v_n int := 0;
BEGIN
    -- The next call passes them, so that each call locks its gates in one order.
    IF weft._open_gates(pass_gates.at) THEN
        RETURN 1;
    END IF;
    SELECT array_agg(x.gate_id)
    INTO v_gates
    FROM (SELECT DISTINCT n.gate_id FROM weft.gate_note n ORDER BY 1 LIMIT 100) x;
    IF v_gates IS NOT NULL
        AND (
            SELECT s.stepped_at < pass_gates.at - interval '1 second'
            FROM weft.core_sweep s
            WHERE s.done_at IS NULL
            ORDER BY s.tenant_id, s.user_id
            LIMIT 1
        ) IS NOT TRUE
    THEN
        v_n := weft._pass_gates(v_gates, true, true, limit_jobs, pass_gates.at);
        DELETE FROM weft.gate_note n
        WHERE n.gate_id = ANY (v_gates) AND NOT EXISTS (SELECT FROM weft.gate g WHERE g.gate_id = n.gate_id);
        RETURN greatest(
            v_n,
            (
                cardinality(v_gates) = 100 OR EXISTS (SELECT FROM weft.core_sweep s WHERE s.done_at IS NULL)
            )::int
        );
    ELSIF weft._sweep_cores(limit_jobs) THEN
        RETURN 1;
    END IF;
    DELETE FROM weft.gate_pause u WHERE u.until_at <= pass_gates.at;
    SELECT
        array_agg(s.batch_id) AS batches,
        array_agg(s.job_id) AS jobs,
        array_agg(s.gate_id) AS gates,
        array_agg(s.pool_id) AS pools,
        array_agg(s.shape_id) AS shapes
    INTO v_stuck
    FROM weft._stuck_places(pass_gates.at, pass_gates.at) s;
    IF v_stuck.gates IS NULL THEN
        RETURN 0;
    END IF;
    v_gates := weft._lock_gates(v_stuck.gates, true);
    INSERT INTO weft.gate_pause AS u (gate_id, pool_id, shape_id, until_at)
    SELECT DISTINCT g, p, s, pass_gates.at + interval '1 minute'
    FROM unnest(v_stuck.gates, v_stuck.pools, v_stuck.shapes) t (g, p, s)
    ON CONFLICT (gate_id, pool_id, shape_id) DO UPDATE
    SET until_at = excluded.until_at;
    v_n := weft._give_back(v_gates, v_stuck.batches, v_stuck.jobs);
    PERFORM weft._pass_gates(v_gates, false, false, limit_jobs, pass_gates.at);
    RETURN v_n;
END $$;
