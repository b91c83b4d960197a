-- _n_running: how many jobs of a batch are claimed, exactly and now.
-- Called by: claim_jobs and _has_work, with their settings, for batches with max_running.   Safe to repeat: yes, it only reads.
-- Locks: none.   Plan: sums by key, then the deltas that are not folded.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._n_running(of_batch_id bigint) RETURNS bigint LANGUAGE sql STABLE
AS $$
    SELECT coalesce((SELECT n_running FROM weft.group_count WHERE batch_id = of_batch_id AND group_id = 0), 0)
         + coalesce((SELECT sum(d.n_running) FROM weft.fold f
                     JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto)
                     WHERE d.batch_id = of_batch_id), 0)
$$;
