-- _before_removal: what others keep of jobs whose rows are removed next.
-- Safe to repeat: yes.
-- Locks: as _keep_items.
-- Plan: as _keep_items.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._before_removal(of_batch_id bigint, after_job int, last_job int) RETURNS void
LANGUAGE sql AS $$
    SELECT weft._keep_items(of_batch_id, after_job, last_job)
$$;
