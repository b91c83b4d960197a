-- move_black_hole: cordon a worker on which attempts fail at once, let it try one job, note a failed try, or
--   take the cordon back.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; pool_log; as _cordon; worker; incarnation (its row); black_hole; as
--   uncordon_worker; as _announce.
-- decision: cordon, try, wait (after a failed try) or uncordon. retry_s: after cordon and wait, when the next
--   try is due; after try, when another one is, should this one not take place.
-- Returns: its name; NULL: nothing was done, because somebody else has cordoned, uncordoned or drained it
--   meanwhile, or it has ended.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.move_black_hole(
    epoch bigint, of_worker_id int, decision text, reason text, retry_s double precision
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_worker record;
    v_try_at timestamptz := clock_timestamp() + retry_s * interval '1 second';
BEGIN
    SELECT
        w.name,
        w.pool_id,
        p.name AS pool,
        i.incarnation_id,
        w.cordoned_at IS NOT NULL AS cordoned,
        b.worker_id IS NOT NULL AS known
    INTO v_worker
    FROM weft.worker w
    JOIN weft.pool p
    USING (pool_id)
    LEFT JOIN weft.worker_incarnation i ON i.worker_id = w.worker_id AND i.ended_at IS NULL
    LEFT JOIN weft.black_hole b ON b.worker_id = w.worker_id
    WHERE w.worker_id = of_worker_id AND NOT w.draining;
    IF v_worker.incarnation_id IS NULL
        OR v_worker.known <> (decision <> 'cordon')
        OR v_worker.cordoned AND NOT v_worker.known
    THEN
        RETURN NULL;
    END IF;
    IF decision IN ('cordon', 'uncordon') THEN
        PERFORM weft._record_pool_changes(
            v_worker.pool_id, ARRAY[decision], ARRAY[v_worker.name], ARRAY[move_black_hole.reason]
        );
    END IF;
    IF decision = 'uncordon' THEN
        PERFORM weft.uncordon_worker(v_worker.name, v_worker.pool, 'weft');
        RETURN v_worker.name;
    ELSIF decision = 'cordon' THEN
        IF NOT weft._cordon(
            v_worker.name, v_worker.pool, 'weft', left(move_black_hole.reason, 1000), false
        ) THEN
            RETURN NULL;
        END IF;
        INSERT INTO weft.black_hole (worker_id, try_at) VALUES (of_worker_id, v_try_at);
        RETURN v_worker.name;
    END IF;
    PERFORM FROM weft.worker w WHERE w.worker_id = of_worker_id FOR UPDATE;
    UPDATE weft.worker_incarnation i
    SET cordoned = decision <> 'try', trying = decision = 'try'
    WHERE i.incarnation_id = v_worker.incarnation_id;
    UPDATE weft.black_hole b
    SET
        try_at = v_try_at,
        n_tries = b.n_tries + (decision = 'wait')::int,
        try_batch_id = NULL,
        try_job_id = NULL,
        try_attempt = NULL
    WHERE b.worker_id = of_worker_id;
    PERFORM weft._record_worker_change(
        of_worker_id,
        CASE decision WHEN 'try' THEN 'active' ELSE 'cordoned' END,
        'weft',
        left(move_black_hole.reason, 1000),
        clock_timestamp()
    );
    IF decision = 'try' THEN
        PERFORM weft._announce();
        PERFORM pg_notify('work', i.pool_id || ':' || i.incarnation_id)
        FROM weft.worker_incarnation i
        WHERE i.incarnation_id = v_worker.incarnation_id AND i.waiting;
    END IF;
    RETURN v_worker.name;
END $$;
