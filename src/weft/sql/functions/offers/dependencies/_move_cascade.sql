-- _move_cascade: record the last child that was told of this parent's end; NULL: all were.
-- Safe to repeat: yes.
-- Locks: cascade (by the caller).
-- Plan: by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._move_cascade(of_batch_id bigint, of_job_id int, to_child int) RETURNS void
LANGUAGE sql AS $$
    DELETE FROM weft.cascade c WHERE to_child IS NULL AND c.batch_id = of_batch_id AND c.job_id = of_job_id;
    UPDATE weft.cascade c
    SET next_child = to_child
    WHERE to_child IS NOT NULL AND c.batch_id = of_batch_id AND c.job_id = of_job_id
$$;
