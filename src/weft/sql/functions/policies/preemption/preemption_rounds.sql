-- preemption_rounds: what the driver has to know to decide which running jobs make room for jobs of queues of
--   higher priority.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: nothing but the queues if none has a priority; else as _preemption_waiting and, if jobs of such
--   queues run, as _has_lease; the workers, as _preemption_hosts, only of pools where such a job waits, ready
--   or claimed.
-- Returns: documents: `pool`, `waiting`, `hosts`.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.preemption_rounds(epoch bigint) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_queues text[];
    v_lanes int[];
    v_pool record;
    v_waiting jsonb;
    v_hosts jsonb;
BEGIN
    v_queues := ARRAY(
        SELECT DISTINCT q.name FROM weft.queue q WHERE q.priority IS NOT NULL AND q.name <> 'default'
    );
    IF v_queues = '{}' THEN
        RETURN;
    END IF;
    IF EXISTS (SELECT FROM weft.queue_count c WHERE c.queue = ANY (v_queues) AND c.n_running > 0) THEN
        v_lanes := ARRAY(SELECT l.lane_id FROM weft.lane l WHERE l.asks ->> 'queue' = ANY (v_queues));
    END IF;
    FOR v_pool IN SELECT p.pool_id, p.name FROM weft.pool p ORDER BY p.pool_id LOOP
        v_waiting := (SELECT jsonb_agg(w) FROM weft._preemption_waiting(v_pool.pool_id, v_queues) w);
        CONTINUE WHEN v_waiting IS NULL AND (v_lanes IS NULL OR NOT weft._has_lease(v_pool.pool_id, v_lanes));
        v_hosts := (SELECT coalesce(jsonb_agg(h), '[]') FROM weft._preemption_hosts(v_pool.pool_id) h);
        CONTINUE WHEN v_waiting IS NULL AND NOT v_hosts @? '$[*].leases[*]';
        RETURN NEXT jsonb_build_object(
            'pool', v_pool.name, 'waiting', coalesce(v_waiting, '[]'), 'hosts', v_hosts
        );
    END LOOP;
END $$;
