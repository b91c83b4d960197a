-- _confirm_stops: note that a worker has stopped attempts that were beyond a limit, so that their jobs go on,
--   and tell the driver.
-- are_gone: these, and no others; else all others.
-- Safe to repeat: yes.
-- Locks: monitor (SKIP LOCKED: the driver has it, or the next heartbeat notes it).
-- Plan: stops of the incarnation, which are few.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._confirm_stops(
    of_incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    are_gone boolean,
    at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    WITH named AS MATERIALIZED (
        SELECT
            s.batch_id,
            s.job_id,
            s.attempt,
            (s.batch_id, s.job_id, s.attempt) IN (
                SELECT *
                FROM unnest(_confirm_stops.batch_ids, _confirm_stops.job_ids, _confirm_stops.attempts)
            ) AS is_named
        FROM weft.attempt_stop s
        WHERE s.incarnation_id = of_incarnation_id AND NOT s.gone
        FOR UPDATE SKIP LOCKED
    )
    UPDATE weft.attempt_stop s
    SET gone = true, due_at = _confirm_stops.at
    FROM named n
    WHERE n.is_named = are_gone AND s.batch_id = n.batch_id AND s.job_id = n.job_id AND s.attempt = n.attempt;
    IF FOUND THEN
        PERFORM pg_notify('driver', 'monitor');
    END IF;
END $$;
