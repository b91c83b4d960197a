-- _may_open_span: whether n_jobs jobs of a batch that are about to become ready, between these numbers and of
--   one update and lane, may get one range instead of a row of ready_job each: writing these takes longer
--   than all else that makes them ready.
-- Safe to repeat: yes.
-- Locks: as _may_open.
-- Plan: by key.
-- Claimers read all jobs of a range, so one of ten must be one of these. Gates admit from a range job by job,
--   so nothing is saved there.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._may_open_span(
    of_batch_id bigint, of_first_job int, of_last_job int, n_jobs bigint
) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    RETURN n_jobs >= 100
        AND of_last_job - of_first_job < 10 * n_jobs
        AND NOT (SELECT b.gated FROM weft.batch b WHERE b.batch_id = of_batch_id)
        AND NOT EXISTS (
            SELECT FROM weft.runnable r WHERE r.batch_id = of_batch_id AND r.first_job = of_first_job
        )
        AND weft._may_open(ARRAY[of_batch_id]) IS NOT NULL;
END $$;
