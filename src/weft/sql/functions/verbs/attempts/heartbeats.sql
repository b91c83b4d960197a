-- heartbeats: heartbeats of several workers in one transaction, each as heartbeat.
-- Safe to repeat: yes.
-- Locks: incarnation (rows in the order of their numbers, SKIP LOCKED); as heartbeat (of one worker after
--   another).
-- n_attempts, n_heard: how many of the attempts, and of the claims whose replies have arrived, are each
--   worker's; they follow one another.
-- Returns: a row for each worker with its number in the lists. None for one that is not known, or whose row
--   somebody else has locked: ask for it alone. A call that waits longer than a moment for another lock
--   fails.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.heartbeats(
    incarnation_ids int[],
    draining boolean[],
    claiming boolean[],
    n_attempts int[],
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    n_heard int[],
    heard bigint[]
) RETURNS TABLE (
    n bigint,
    alive boolean,
    has_work boolean,
    stop_batch_ids bigint[],
    stop_job_ids int[],
    stop_attempts smallint[],
    drains boolean,
    kept boolean
) LANGUAGE plpgsql SET lock_timeout = '300ms' AS $$
DECLARE
    v_free int[];
    v_of record;
BEGIN
    SELECT array_agg(f.incarnation_id)
    INTO v_free
    FROM (
        SELECT i.incarnation_id
        FROM weft.worker_incarnation i
        WHERE i.incarnation_id = ANY (heartbeats.incarnation_ids)
        ORDER BY i.incarnation_id
        FOR NO KEY UPDATE SKIP LOCKED
    ) f;
    FOR v_of IN
        SELECT
            t.*,
            sum(t.n_of) OVER before - t.n_of AS after_attempt,
            sum(t.n_told) OVER before - t.n_told AS after_told
        FROM unnest(heartbeats.incarnation_ids, heartbeats.draining, heartbeats.claiming, n_attempts, n_heard)
            WITH ORDINALITY t (id, draining, claiming, n_of, n_told, n)
        WINDOW before AS (ORDER BY t.n)
        ORDER BY t.id, t.n
    LOOP
        CONTINUE WHEN v_of.id <> ALL (v_free) OR v_free IS NULL;
        n := v_of.n;
        SELECT h.*
        INTO alive, has_work, stop_batch_ids, stop_job_ids, stop_attempts, drains, kept
        FROM weft.heartbeat(
            v_of.id,
            batch_ids[v_of.after_attempt + 1 : v_of.after_attempt + v_of.n_of],
            job_ids[v_of.after_attempt + 1 : v_of.after_attempt + v_of.n_of],
            attempts[v_of.after_attempt + 1 : v_of.after_attempt + v_of.n_of],
            v_of.draining,
            v_of.claiming,
            heard[v_of.after_told + 1 : v_of.after_told + v_of.n_told]
        ) h;
        RETURN NEXT;
    END LOOP;
END $$;
