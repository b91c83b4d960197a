-- _end_waiting_as_errors: end these waiting jobs of a batch as errors of a kind (`deadline`, `machine`,
--   `blocked`, `overdue`, `status`, `refused`, `unanswered`). Nobody is told; the caller has locked them, and
--   counted them as failures.
-- Safe to repeat: yes, only waiting jobs are changed.
-- Locks: as _end_waiting; as _add_dead_letters.
-- Plan: jobs by key.
-- Returns: whether it ended any.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._end_waiting_as_errors(
    of_batch_id bigint, of_job_ids int[], at timestamptz, kind text, message text, actor text DEFAULT 'weft'
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    IF weft._end_waiting(of_batch_id, of_job_ids, _end_waiting_as_errors.at, kind, message, actor) = 0 THEN
        RETURN false;
    END IF;
    PERFORM weft._add_dead_letters(
        array_fill(of_batch_id, ARRAY[cardinality(of_job_ids)]),
        of_job_ids,
        array_fill(
            CASE
                WHEN kind IN ('machine', 'status') THEN REASON_SYSTEM
                WHEN kind = 'blocked' THEN REASON_BLOCKED
                WHEN kind = 'overdue' THEN REASON_OVERDUE
                WHEN kind = 'refused' THEN REASON_CANCELLED
                ELSE REASON_DEADLINE
            END::smallint,
            ARRAY[cardinality(of_job_ids)]
        ),
        NULL,
        NULL,
        array_fill(
            left(regexp_replace(_end_waiting_as_errors.message, '\d+', '<n>', 'g'), 200),
            ARRAY[cardinality(of_job_ids)]
        ),
        _end_waiting_as_errors.at
    );
    RETURN true;
END $$;
