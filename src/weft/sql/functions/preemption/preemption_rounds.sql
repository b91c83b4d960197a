-- preemption_rounds: what the driver has to know to decide which running jobs make room for jobs of queues of higher priority.
-- Called by: DriverStore.preemption_rounds.   Safe to repeat: yes, it only reads.   Locks: as _check_epoch.
-- Plan: nothing but the queues if none has a priority; else pools with ready jobs, as _preemption_waiting; the workers, as
--   _preemption_hosts, only of pools where such a job waits.
-- Returns: documents: `pool`, `waiting`, `hosts`.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.preemption_rounds(epoch bigint) RETURNS SETOF jsonb LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_queues text[]; v_pool record; v_waiting jsonb;
BEGIN
    PERFORM weft._check_epoch(preemption_rounds.epoch);
    v_queues := ARRAY(SELECT DISTINCT q.name FROM weft.queue q WHERE q.priority IS NOT NULL AND q.name <> 'default');
    IF v_queues = '{}' THEN
        RETURN;
    END IF;
    FOR v_pool IN
        SELECT p.pool_id, p.name FROM weft.pool p
        WHERE EXISTS (SELECT FROM weft.user_share s WHERE s.pool_id = p.pool_id AND s.active AND s.n_ready > 0) ORDER BY p.pool_id
    LOOP
        v_waiting := (SELECT jsonb_agg(w) FROM weft._preemption_waiting(v_pool.pool_id, v_queues) w);
        CONTINUE WHEN v_waiting IS NULL;
        RETURN NEXT jsonb_build_object('pool', v_pool.name, 'waiting', v_waiting,
            'hosts', (SELECT coalesce(jsonb_agg(h), '[]') FROM weft._preemption_hosts(v_pool.pool_id) h));
    END LOOP;
END $$;
