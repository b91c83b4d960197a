-- _hold_new_jobs: let the sweep park the new jobs of held groups of a batch; jobs that are held are not claimed meanwhile.
-- Safe to repeat: yes.   Locks: hold_row (those of the batch).   Plan: holds of the batch by key.   Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._hold_new_jobs(of_batch_id bigint, from_job int) RETURNS void LANGUAGE sql AS $$
    UPDATE weft.group_hold h SET swept = false, sweep_job = least(h.sweep_job, from_job - 1)
    WHERE h.batch_id = of_batch_id AND h.released_at IS NULL
$$;
