-- _end_late: end those of these jobs of one batch that wait, as errors, because they cannot end by their deadline; each is a failure.
-- Safe to repeat: yes, only waiting jobs are changed.   Locks: as _end_as_errors.   Plan: as _end_as_errors.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_late(of_batch_id bigint, of_job_ids int[], at timestamptz) RETURNS void LANGUAGE sql AS $$
    SELECT weft._end_as_errors(of_batch_id, of_job_ids, _end_late.at, 'deadline', 'could not end by its deadline')
$$;
