-- _after_copy: what follows when copies of jobs were added to a new batch.
-- Safe to repeat: yes.
-- For: add_resubmitted, after add_jobs.
-- Locks: as _intern_more.
-- Plan: as _intern_more.
-- rare_fields: as add_jobs takes them.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._after_copy(
    of_batch_id bigint, first_job int, n_jobs int, rare_fields jsonb[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM unnest(rare_fields) f WHERE f ? 'more') THEN
        PERFORM weft._intern_more(
            of_batch_id, ARRAY(SELECT generate_series(first_job, first_job + n_jobs - 1)), NULL
        );
    END IF;
END $$;
