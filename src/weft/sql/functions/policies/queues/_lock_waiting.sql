-- _lock_waiting: lock those of these jobs that wait, have never run and are of these shapes, with their rows
--   in ready_job. Offers of those that are queued are withdrawn.
-- Safe to repeat: yes.
-- Locks: job (SKIP LOCKED); as _unqueue_jobs; ready_job (SKIP LOCKED). A claim has both rows of a job; a
--   release lists parked jobs without their rows.
-- Plan: both by key.
-- Returns: the locked jobs, in order.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._lock_waiting(of_batch_id bigint, of_job_ids int[], of_shape_ids int[])
RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_job int[];
    v_locked int[];
BEGIN
    v_job := ARRAY(
        SELECT l.job_id
        FROM (SELECT DISTINCT x FROM unnest(of_job_ids) x ORDER BY x) t
        CROSS JOIN LATERAL (
            SELECT j.job_id
            FROM weft.job j
            WHERE j.batch_id = of_batch_id
                AND j.job_id = t.x
                AND j.state IN (STATE_PENDING, STATE_READY, STATE_QUEUED)
                AND j.attempt = 0
                AND NOT j.staged
                AND j.shape_id = ANY (of_shape_ids)
            FOR NO KEY UPDATE SKIP LOCKED
        ) l
    );
    PERFORM weft._unqueue_jobs(array_fill(of_batch_id, ARRAY[cardinality(v_job)]), v_job, clock_timestamp())
    WHERE EXISTS (SELECT FROM weft.transport_offer o WHERE o.batch_id = of_batch_id AND o.attempt IS NULL);
    v_locked := ARRAY(
        SELECT q.job_id
        FROM weft.ready_job q
        WHERE q.batch_id = of_batch_id AND q.job_id = ANY (v_job)
        ORDER BY q.job_id
        FOR UPDATE SKIP LOCKED
    );
    -- In a statement of its own: a job whose row in ready_job another has stays where it is.
    RETURN ARRAY(
        SELECT x
        FROM unnest(v_job) x
        CROSS JOIN LATERAL (
            SELECT y.state, y.listed FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = x OFFSET 0
        ) j
        WHERE j.state = STATE_PENDING OR NOT j.listed OR x = ANY (v_locked)
        ORDER BY x
    );
END $$;
