-- heartbeat: as _heartbeat, and whether the worker shall end when nothing runs there, and whether it is kept
--   for a job that waits.
-- Safe to repeat: yes.
-- Locks: incarnation (its row); as _heartbeat.
-- batch_ids NULL: it lives, and its database has no room for more.
-- A worker that has nothing takes a short path: one statement updates its row, sees that nothing of it is
--   left, and answers (ADR 51).
-- Plan: by key; else as _heartbeat.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.heartbeat(
    incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    draining boolean,
    claiming boolean DEFAULT false,
    heard bigint[] DEFAULT '{}'
) RETURNS TABLE (
    alive boolean,
    has_work boolean,
    stop_batch_ids bigint[],
    stop_job_ids int[],
    stop_attempts smallint[],
    drains boolean,
    kept boolean
) LANGUAGE plpgsql SET enable_seqscan = off AS $$
#variable_conflict use_variable
DECLARE
    v_cordoned boolean;
    v_reserved boolean;
BEGIN
    IF batch_ids IS NULL THEN
        UPDATE weft.worker_incarnation i
        SET heartbeat_at = clock_timestamp()
        WHERE i.incarnation_id = heartbeat.incarnation_id AND i.ended_at IS NULL;
        alive := FOUND;
        has_work := false;
        stop_batch_ids := '{}';
        stop_job_ids := '{}';
        stop_attempts := '{}';
        v_cordoned := true;
        v_reserved := true;
    ELSIF batch_ids = '{}' AND NOT claiming THEN
        UPDATE weft.worker_incarnation i
        SET heartbeat_at = clock_timestamp(), draining = heartbeat.draining
        WHERE i.incarnation_id = heartbeat.incarnation_id
            AND i.ended_at IS NULL
            AND NOT EXISTS (SELECT FROM weft.claim c WHERE c.incarnation_id = heartbeat.incarnation_id)
            AND NOT EXISTS (
                SELECT
                FROM weft.attempt_stop s
                WHERE s.incarnation_id = heartbeat.incarnation_id AND NOT s.gone
            )
            AND NOT EXISTS (
                SELECT FROM weft.attempt_watch w WHERE w.incarnation_id = heartbeat.incarnation_id
            )
        RETURNING
            true,
            EXISTS (SELECT FROM weft.user_share s WHERE s.pool_id = i.pool_id AND s.active),
            '{}',
            '{}',
            '{}',
            i.cordoned,
            EXISTS (SELECT FROM weft.reservation r WHERE r.incarnation_id = heartbeat.incarnation_id)
        INTO alive, has_work, stop_batch_ids, stop_job_ids, stop_attempts, v_cordoned, v_reserved;
    END IF;
    IF alive IS NULL THEN
        SELECT h.*, true, true
        INTO alive, has_work, stop_batch_ids, stop_job_ids, stop_attempts, v_cordoned, v_reserved
        FROM weft._heartbeat(
            incarnation_id, batch_ids, job_ids, attempts, heartbeat.draining, claiming, heard
        ) h;
    ELSIF has_work THEN
        has_work := weft._has_work(incarnation_id);
    END IF;
    drains := false;
    kept := false;
    IF v_cordoned THEN
        drains := EXISTS (
            SELECT
            FROM weft.worker_incarnation i
            JOIN weft.worker w
            USING (worker_id)
            WHERE i.incarnation_id = heartbeat.incarnation_id AND i.cordoned AND w.draining
        );
    END IF;
    IF v_reserved THEN
        kept := EXISTS (
            SELECT
            FROM weft.reservation r
            CROSS JOIN LATERAL (
                SELECT y.state FROM weft.job y WHERE y.batch_id = r.batch_id AND y.job_id = r.job_id OFFSET 0
            ) j
            WHERE r.incarnation_id = heartbeat.incarnation_id AND j.state IN (STATE_READY, STATE_CREATING)
        );
    END IF;
    RETURN NEXT;
END $$;
