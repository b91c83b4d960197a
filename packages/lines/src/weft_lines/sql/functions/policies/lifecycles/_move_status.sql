-- _move_status: bring the status that belongs to what deliveries of an ended job do, by the shortest allowed
--   way.
-- Safe to repeat: yes.
-- For: _after_sends, which has the job's row.
-- Locks: as _add_status_rows.
-- Plan: by key.
-- within: as in lifecycle_move. Where the lifecycle names nothing, or no allowed way leads there, nothing
--   changes.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._move_status(of_job weft.job, within smallint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_way smallint[];
BEGIN
    SELECT m.way
    INTO v_way
    FROM weft.job_status s
    JOIN weft.lifecycle_move m ON m.lifecycle_id = of_job.lifecycle_id
        AND m.state = STATE_SUCCESS
        AND m.from_status = s.status
        AND m.within = _move_status.within
    WHERE s.batch_id = of_job.batch_id AND s.job_id = of_job.job_id;
    IF v_way <> '{}' THEN
        PERFORM weft._add_status_rows(of_job, v_way, false, 'weft', NULL, NULL, clock_timestamp());
    END IF;
END $$;
