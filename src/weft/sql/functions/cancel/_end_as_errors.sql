-- _end_as_errors: end those of these jobs of a batch that wait, as errors of a kind (`deadline`, `machine`, `blocked`,
--   `overdue`); each is a failure.
-- Called by: _end_late, _release_machines, postpone_conditions, fail_conditions, _end_overdue.
-- Safe to repeat: yes, only waiting jobs are changed.
-- Locks: as _end_waiting_as_errors; as _announce.   Plan: jobs by key.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_as_errors(of_batch_id bigint, of_job_ids int[], at timestamptz, kind text, message text)
RETURNS void LANGUAGE plpgsql
AS $$
BEGIN
    IF weft._end_waiting_as_errors(of_batch_id, of_job_ids, _end_as_errors.at, kind, message) THEN
        PERFORM weft._announce();
    END IF;
END $$;
