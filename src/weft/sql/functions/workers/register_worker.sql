-- register_worker: say that a worker is here, with this incarnation; an older incarnation of it ends, its attempts are lost.
-- Called by: Store.register_worker (worker agent).   Safe to repeat: yes.
-- Locks: the worker's row; then as _lose_incarnation.
-- Returns: the worker's and the incarnation's numbers.  Raises WF301 if a worker of this name lives on another host, or was heard
--   of on this host within the last 5 s without proof that its processes are gone.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.register_worker(
    name text, host text, pool text, incarnation text, cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu int, version text,
    proved_gone boolean, grace_s double precision, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (worker_id int, incarnation_id int, pool_id int) LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_pool int; v_worker record; v_old record; v_id int;
BEGIN
    SELECT p.pool_id INTO v_pool FROM weft.pool p WHERE p.name = register_worker.pool;
    IF v_pool IS NULL THEN
        PERFORM weft._fail('WF302', format('pool "%s" does not exist', register_worker.pool), 'A worker joins one pool.', 'Start it with --pool default.');
    END IF;
    -- First of all: whoever lives now, the processes of an incarnation that has ended must stop.
    IF EXISTS (SELECT FROM weft.worker_incarnation i WHERE i.name = register_worker.incarnation AND i.ended_at IS NOT NULL) THEN
        PERFORM weft._fail('WF303', format('incarnation %s has ended', register_worker.incarnation), 'It was declared lost; its attempts belong to others.', 'Stop its processes and start a new spawner.');
    END IF;
    INSERT INTO weft.worker (pool_id, name, host) VALUES (v_pool, register_worker.name, register_worker.host) ON CONFLICT DO NOTHING;
    SELECT w.* INTO v_worker FROM weft.worker w WHERE w.pool_id = v_pool AND w.name = register_worker.name FOR UPDATE;
    SELECT i.* INTO v_old FROM weft.worker_incarnation i WHERE i.worker_id = v_worker.worker_id AND i.ended_at IS NULL;
    IF FOUND AND v_old.name <> register_worker.incarnation THEN
        IF v_old.heartbeat_at > register_worker.at - register_worker.grace_s * interval '1 second'
           AND NOT (v_worker.host = register_worker.host AND register_worker.proved_gone) THEN
            PERFORM weft._fail('WF301', format('worker "%s" lives already', register_worker.name),
                format('It was heard of %s s ago on host %s.', round(date_part('epoch', register_worker.at - v_old.heartbeat_at)), v_worker.host),
                'Give this worker another name, or wait until the other is lost.');
        END IF;
        PERFORM weft._lose_incarnation(v_old.incarnation_id, register_worker.at);
        v_old := NULL;
    END IF;
    UPDATE weft.worker w SET host = register_worker.host WHERE w.worker_id = v_worker.worker_id AND w.host <> register_worker.host;
    INSERT INTO weft.worker_incarnation AS i (worker_id, pool_id, name, version, cpu_m, memory_mib, storage_mib, gpu, registered_at, heartbeat_at)
    VALUES (v_worker.worker_id, v_pool, register_worker.incarnation, register_worker.version, register_worker.cpu_m, register_worker.memory_mib,
            register_worker.storage_mib, register_worker.gpu, register_worker.at, register_worker.at)
    ON CONFLICT (name) DO UPDATE SET heartbeat_at = register_worker.at, draining = false, waiting = false, version = excluded.version
        WHERE i.ended_at IS NULL AND i.worker_id = v_worker.worker_id
    RETURNING i.incarnation_id INTO v_id;
    IF v_id IS NULL THEN
        PERFORM weft._fail('WF303', format('incarnation %s has ended', register_worker.incarnation), 'It was declared lost; its attempts belong to others.', 'Stop its processes and start a new spawner.');
    END IF;
    PERFORM weft._announce();
    RETURN QUERY SELECT v_worker.worker_id, v_id, v_pool;
END $$;
