-- _may_pass: whether a job may be admitted: no switch is closed for it, and it is not cancelled. Claims check
--   again.
-- Plan: holds and cancels by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._may_pass(
    of_batch_id bigint, of_group_id int, of_job_id int, always_run boolean
) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT weft._is_closed(of_batch_id, of_group_id, of_job_id)
        AND NOT weft._is_cancelled(of_batch_id, of_group_id, always_run)
$$;
