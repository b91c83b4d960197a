-- _foreign_worker: the incarnation that stands for foreign programs in a pool, and is recorded as the worker
--   of what they run. It offers nothing, so it serves no lane. Its silence proves nothing: attempts end by
--   outcomes, cancels, or when nobody answers for long.
-- Safe to repeat: yes.
-- Plan: by key.
-- Locks: worker (if there is none yet).
-- make: if there is none.
-- Returns: NULL: none, or it takes no jobs, or a worker of weft's has the name.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._foreign_worker(of_pool_id int, make boolean, at timestamptz)
RETURNS weft.worker_incarnation LANGUAGE plpgsql AS $$
DECLARE
    v_worker weft.worker_incarnation;
    v_id int;
BEGIN
    FOR i IN 1..2 LOOP
        SELECT x.*
        INTO v_worker
        FROM weft.worker w
        JOIN weft.worker_incarnation x
        USING (worker_id)
        WHERE w.pool_id = of_pool_id AND w.name = 'foreign' AND x.ended_at IS NULL;
        EXIT WHEN FOUND OR NOT make OR i = 2;
        INSERT INTO weft.worker AS w (pool_id, name, host)
        VALUES (of_pool_id, 'foreign', 'elsewhere')
        ON CONFLICT (pool_id, name) DO UPDATE
        SET host = 'elsewhere', deleted_at = NULL
        RETURNING w.worker_id
        INTO v_id;
        INSERT INTO weft.worker_incarnation (
            worker_id, pool_id, name, version, cpu_m, memory_mib, storage_mib, gpu, offers, registered_at,
            heartbeat_at, outlives, cordoned
        )
        SELECT
            v_id, of_pool_id, 'foreign-' || gen_random_uuid(), '', 1000000000, 1000000000, 0, 0,
            '{"foreign": "yes", "queue": []}',
            _foreign_worker.at, _foreign_worker.at, true, w.cordoned_at IS NOT NULL
        FROM weft.worker w
        WHERE w.worker_id = v_id
        ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN CASE
        WHEN v_worker.offers ? 'foreign' AND NOT v_worker.cordoned AND NOT v_worker.draining THEN v_worker
    END;
END $$;
