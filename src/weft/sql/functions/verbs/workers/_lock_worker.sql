-- _lock_worker: lock the row of a worker; tell its number, its state and the incarnation that lives, if one
--   does.
-- Safe to repeat: yes.
-- Locks: worker.
-- Raises as _find_worker; WF307 if its process has ended in order.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lock_worker(
    of_name text, of_pool text, OUT worker_id int, OUT state text, OUT incarnation_id int
) LANGUAGE plpgsql AS $$
DECLARE
    v_worker weft.worker;
    v_last weft.worker_incarnation;
BEGIN
    SELECT w.*
    INTO v_worker
    FROM weft.worker w
    WHERE w.worker_id = weft._find_worker(of_name, of_pool, NULL)
    FOR UPDATE;
    SELECT i.*
    INTO v_last
    FROM weft.worker_incarnation i
    WHERE i.worker_id = v_worker.worker_id
    ORDER BY i.incarnation_id DESC
    LIMIT 1;
    worker_id := v_worker.worker_id;
    state := weft._worker_state(v_worker, v_last);
    incarnation_id := CASE WHEN v_last.ended_at IS NULL THEN v_last.incarnation_id END;
    IF state = 'deleted' THEN
        PERFORM weft._fail(
            'WF307',
            format('worker "%s" has ended', of_name),
            format(
                'It ended in order on %s.',
                to_char(v_worker.deleted_at AT TIME ZONE 'UTC', 'YYYY-MM-DD at HH24:MI:SS UTC')
            ),
            'Start it again with `weft worker`.'
        );
    END IF;
END $$;
