-- _count_errors: count jobs of a batch that are about to end as errors in groups with
--   cancel_after_n_failures.
-- Safe to repeat: no; once per ended job.
-- For: _end_as_errors, _end_overdue, once in a transaction.
-- Locks: as _count_failures. Before the jobs end: failure_count comes before ready_job (lock order).
-- Plan: as _count_failures.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._count_errors(of_batch_id bigint, of_job_ids int[], at timestamptz)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM weft.failure_count f WHERE f.batch_id = of_batch_id) THEN
        PERFORM weft._count_failures(
            array_fill(of_batch_id, ARRAY[cardinality(of_job_ids)]),
            of_job_ids,
            array_fill(STATE_ERROR::smallint, ARRAY[cardinality(of_job_ids)]),
            _count_errors.at
        );
    END IF;
END $$;
