-- stop_overdue: one bounded step of the monitor: end attempts that are beyond a limit of their queue and tell
--   their workers to stop them; make jobs ready whose attempts have been stopped; give up workers that have
--   not stopped theirs in time.
-- Safe to repeat: yes.
-- confirm_s: how long a worker may take to stop an attempt.
-- Locks: as _check_epoch; as _lose_unstopped; monitor (SKIP LOCKED); as _stop_attempts (instead); as
--   _release_stopped (instead).
-- Plan: stops and watches by date; jobs by key.
-- Returns: one row for each attempt that it ended: its worker, why, and whether its job goes on; and one
--   without a job for each worker that was given up. No row: nothing was due, or it is locked.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.stop_overdue(
    epoch bigint, limit_jobs int, confirm_s double precision, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (batch_id bigint, job_id int, attempt smallint, worker text, message text, goes_on boolean)
LANGUAGE plpgsql PLAN_BY_INDEX AS $$
BEGIN
    RETURN QUERY
    SELECT
        NULL::bigint,
        NULL::int,
        NULL::smallint,
        l.worker,
        'did not stop an attempt in time'::text,
        NULL::boolean
    FROM weft._lose_unstopped(stop_overdue.at) l;
    IF NOT FOUND THEN
        RETURN QUERY SELECT * FROM weft._stop_attempts(limit_jobs, confirm_s, stop_overdue.at);
    END IF;
    IF NOT FOUND THEN
        PERFORM weft._release_stopped(limit_jobs, stop_overdue.at);
    END IF;
END $$;
