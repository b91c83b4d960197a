-- _lock_failure_counts: lock the counters of failures of the groups with cancel_after_n_failures of these jobs, before the jobs themselves.
-- Safe to repeat: yes.   Locks: failure_count (in key order).   Plan: jobs, ancestors and counters by key.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lock_failure_counts(of_batch_id bigint, of_job_ids int[]) RETURNS void LANGUAGE sql AS $$
    SELECT FROM weft.failure_count c WHERE c.batch_id = of_batch_id AND c.group_id IN (
        SELECT a.ancestor_id FROM unnest(of_job_ids) x
        JOIN weft.job j ON j.batch_id = of_batch_id AND j.job_id = x
        JOIN weft.group_ancestor a ON a.batch_id = j.batch_id AND a.group_id = j.group_id)
    ORDER BY c.batch_id, c.group_id FOR UPDATE
$$;
