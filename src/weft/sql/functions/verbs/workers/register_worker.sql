-- register_worker: register a worker with this incarnation; its older incarnation ends, whose attempts are
--   lost.
-- Safe to repeat: yes.
-- Locks: lanes; as _fold_worker_sums; worker; incarnation (its row, if it registers again); as
--   _lose_incarnation; as _after_registration; as _announce. A lane added meanwhile is seen.
-- offers: resources beside cpu, memory, storage and gpus (weft.worker_incarnation.offers). Like the size,
--   they never change for an incarnation.
-- log_place, log_directory: what tells this worker's output from that of others, and where it is on its host.
-- by_token: of a worker that is linked through the api; an incarnation stays with the token that made it.
-- outlives: what it runs is in an engine; another incarnation of its name then needs a proof, however long it
--   is silent.
-- is_over: it is dead, and only its ends are told: no sign of life, and one that is unknown has ended.
-- A cordon is the worker's: it stays when its processes are started again.
-- An incarnation that outlives its host is in files, which can be copied: while it is heard of, it stays on
--   its host, in its directory.
-- Returns: the worker's and the incarnation's numbers, and the age of the last sign of life.
-- Raises WF301 if a worker of this name has reported within grace_s, unless
--   it is proved to be gone: by a worker of the same host, the same log_place and the same token, that is of
--   the same home.
-- Raises WF302, WF303; for a new incarnation WF310 if its size is impossible, WF308 if it names a queue that
--   does not exist.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.register_worker(
    name text,
    host text,
    pool text,
    incarnation text,
    cpu_m bigint,
    memory_mib bigint,
    storage_mib bigint,
    gpu int,
    offers jsonb,
    version text,
    proved_gone boolean,
    grace_s double precision,
    log_place text DEFAULT NULL,
    log_directory text DEFAULT NULL,
    by_token bigint DEFAULT NULL,
    outlives boolean DEFAULT false,
    at timestamptz DEFAULT clock_timestamp(),
    is_over boolean DEFAULT false
) RETURNS TABLE (worker_id int, incarnation_id int, pool_id int, silent_s float8) LANGUAGE plpgsql AS $$
DECLARE
    v_pool int;
    v_worker record;
    v_old record;
    v_id int;
    v_silent_s float8;
BEGIN
    SELECT p.pool_id INTO v_pool FROM weft.pool p WHERE p.name = register_worker.pool;
    IF v_pool IS NULL THEN
        PERFORM weft._fail(
            'WF302',
            format('pool "%s" does not exist', register_worker.pool),
            'There is no pool of this name.',
            'Start it with --pool default.'
        );
    END IF;
    -- This comes first: the processes of an ended incarnation must stop, whichever worker lives now.
    IF coalesce(
        (
            SELECT i.ended_at IS NOT NULL
            FROM weft.worker_incarnation i
            WHERE i.name = register_worker.incarnation
        ),
        is_over
    ) THEN
        PERFORM weft._fail(
            'WF303',
            format('incarnation %s has ended', register_worker.incarnation),
            'It was declared lost; its attempts belong to others.',
            'Stop its processes and start a new spawner.'
        );
    END IF;
    IF NOT EXISTS (SELECT FROM weft.worker_incarnation i WHERE i.name = register_worker.incarnation) THEN
        PERFORM weft._check_capacity(
            register_worker.cpu_m,
            register_worker.memory_mib,
            register_worker.storage_mib,
            register_worker.gpu,
            register_worker.offers
        );
        PERFORM weft._check_queues(register_worker.offers);
    END IF;
    PERFORM pg_advisory_xact_lock(7704, 0);
    PERFORM weft._fold_worker_sums();
    INSERT INTO weft.worker (pool_id, name, host)
    VALUES (v_pool, register_worker.name, register_worker.host)
    ON CONFLICT DO NOTHING;
    SELECT w.*
    INTO v_worker
    FROM weft.worker w
    WHERE w.pool_id = v_pool AND w.name = register_worker.name
    FOR UPDATE;
    SELECT i.*
    INTO v_old
    FROM weft.worker_incarnation i
    WHERE i.worker_id = v_worker.worker_id AND i.ended_at IS NULL;
    IF FOUND AND v_old.name <> register_worker.incarnation THEN
        IF (
            v_old.outlives
                OR v_old.heartbeat_at > register_worker.at - register_worker.grace_s * interval '1 second'
        )
            -- The proof is about one home. Hosts may have the same name, and a host may have several homes.
            AND NOT (
                register_worker.proved_gone
                    AND v_worker.host = register_worker.host
                    AND v_old.log_place IS NOT DISTINCT FROM register_worker.log_place
                    -- Who is linked says so itself: it is believed about its own home, which only its token
                    -- can name.
                    AND v_old.token_id IS NOT DISTINCT FROM register_worker.by_token
                    AND (register_worker.by_token IS NULL OR register_worker.log_place IS NOT NULL)
            )
        THEN
            PERFORM weft._fail(
                'WF301',
                format('worker "%s" is already running', register_worker.name),
                format(
                    'Its last heartbeat was %s s ago, on host %s%s.',
                    round(date_part('epoch', register_worker.at - v_old.heartbeat_at)),
                    v_worker.host,
                    ' in ' || v_old.log_directory
                ),
                CASE
                    WHEN v_old.outlives
                        THEN 'Give this worker the state directory of the other one, or another name; or say '
                            || '`weft worker lose` when nothing of the other one runs any more.'
                    ELSE 'Give this worker another name, or wait until the other one is declared lost.'
                END
            );
        END IF;
        PERFORM weft._lose_incarnation(v_old.incarnation_id, register_worker.at);
    ELSIF v_old.outlives
        AND v_old.heartbeat_at > register_worker.at - register_worker.grace_s * interval '1 second'
        AND (v_worker.host <> register_worker.host OR v_old.log_directory <> register_worker.log_directory)
    THEN
        PERFORM weft._fail(
            'WF301',
            format('worker "%s" is already running', register_worker.name),
            format(
                'It has been heard of on host %s%s: the state directory here is a copy.',
                v_worker.host,
                ' in ' || v_old.log_directory
            ),
            'Give this worker another name and a home of its own. If the other one has moved here, wait until it is silent.'
        );
    END IF;
    UPDATE weft.worker w
    SET host = register_worker.host, deleted_at = NULL
    WHERE w.worker_id = v_worker.worker_id AND (w.host <> register_worker.host OR w.deleted_at IS NOT NULL);
    INSERT INTO weft.worker_incarnation AS i (
        worker_id, pool_id, name, version, cpu_m, memory_mib, storage_mib, gpu, offers, log_place,
        log_directory, registered_at, heartbeat_at, cordoned, token_id, outlives
    )
    VALUES (
        v_worker.worker_id, v_pool, register_worker.incarnation, register_worker.version,
        register_worker.cpu_m, register_worker.memory_mib, register_worker.storage_mib, register_worker.gpu,
        register_worker.offers, register_worker.log_place, register_worker.log_directory, register_worker.at,
        register_worker.at,
        v_worker.cordoned_at IS NOT NULL,
        register_worker.by_token,
        register_worker.outlives
    )
    ON CONFLICT (name) DO UPDATE
    SET
        draining = false,
        waiting = false,
        takes = false,
        version = excluded.version,
        offers = coalesce(i.offers, excluded.offers),
        heartbeat_at = CASE WHEN is_over THEN i.heartbeat_at ELSE register_worker.at END,
        -- What has a token keeps its place: the api remembers it.
        log_place =
            CASE WHEN i.token_id IS NULL THEN coalesce(excluded.log_place, i.log_place) ELSE i.log_place END,
        log_directory = coalesce(excluded.log_directory, i.log_directory)
    WHERE i.ended_at IS NULL
        AND i.worker_id = v_worker.worker_id
        AND i.token_id IS NOT DISTINCT FROM register_worker.by_token
    RETURNING i.incarnation_id, date_part('epoch', register_worker.at - i.heartbeat_at)
    INTO v_id, v_silent_s;
    IF v_id IS NULL THEN
        PERFORM weft._fail(
            'WF303',
            format('incarnation %s has ended', register_worker.incarnation),
            'It was declared lost; its attempts belong to others.',
            'Stop its processes and start a new spawner.'
        );
    END IF;
    INSERT INTO weft.worker_lane (incarnation_id, lane_id)
    SELECT i.incarnation_id, l.lane_id
    FROM weft.worker_incarnation i
    CROSS JOIN weft.lane l
    WHERE i.incarnation_id = v_id AND weft._serves(weft._offers(i), l.asks)
    ON CONFLICT DO NOTHING;
    PERFORM weft._after_registration(v_id, v_pool, register_worker.name);
    PERFORM weft._announce();
    RETURN QUERY SELECT v_worker.worker_id, v_id, v_pool, v_silent_s;
END $$;
