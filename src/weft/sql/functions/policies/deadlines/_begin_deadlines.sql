-- _begin_deadlines: at the commit, make the deadlines of an update due. Jobs that are late already end here, so that none of them starts.
-- Safe to repeat: no.
-- Locks: deadline (its own: nobody else); job (nobody else: they are new, or locked by the caller); as _end_late.   Plan: deadlines by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._begin_deadlines(of_batch_id bigint, from_job int, to_job int, at timestamptz) RETURNS void LANGUAGE plpgsql
AS $$
DECLARE
    v_late int[];
BEGIN
    UPDATE weft.job_deadline d SET due_at = d.latest_start WHERE d.batch_id = of_batch_id AND d.first_job BETWEEN from_job AND to_job;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    v_late := ARRAY(
        SELECT j FROM weft.job_deadline d, generate_series(d.first_job, d.last_job) j
        WHERE d.batch_id = of_batch_id AND d.first_job BETWEEN from_job AND to_job AND d.latest_start <= _begin_deadlines.at ORDER BY j);
    IF v_late <> '{}' THEN
        PERFORM weft._end_late(of_batch_id, v_late, _begin_deadlines.at);
    END IF;
    PERFORM pg_notify('driver', 'deadlines');  -- it may sleep until a later date
END $$;
