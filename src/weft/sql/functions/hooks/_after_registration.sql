-- _after_registration: keep the worker of a machine that was made for one job for that job, if it waits, and
--   tell it.
-- Safe to repeat: yes.
-- For: register_worker, before it announces.
-- Plan: machine by name; job and reservation by key.
-- Locks: reservation (nobody else).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_registration(of_incarnation_id int, of_pool_id int, of_name text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
BEGIN
    SELECT m.for_batch_id AS batch_id, m.for_job_id AS job_id, b.user_id
    INTO v_job
    FROM weft.machine m
    JOIN weft.batch b ON b.batch_id = m.for_batch_id
    WHERE m.name = of_name
        AND m.pool_id = of_pool_id
        AND m.released_at IS NULL
        AND m.state IN ('creating', 'active')
        AND EXISTS (
            SELECT
            FROM weft.job j
            WHERE j.batch_id = m.for_batch_id AND j.job_id = m.for_job_id AND j.state = STATE_CREATING
        );
    IF NOT FOUND THEN
        RETURN;
    END IF;
    DELETE FROM weft.reservation r  -- of its processes before they were started again
    WHERE r.batch_id = v_job.batch_id AND r.job_id = v_job.job_id AND r.incarnation_id <> of_incarnation_id;
    INSERT INTO weft.reservation (incarnation_id, batch_id, job_id, user_id)
    VALUES (of_incarnation_id, v_job.batch_id, v_job.job_id, v_job.user_id)
    ON CONFLICT DO NOTHING;
    PERFORM pg_notify('worker', of_incarnation_id::text);
END $$;
