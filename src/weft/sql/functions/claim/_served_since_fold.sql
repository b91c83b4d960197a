-- _served_since_fold: whether a user's jobs were claimed since the sums were folded last.
-- Called by: _next_offer, if several users have work.   Safe to repeat: yes, it only reads.
-- Locks: none.   Plan: the deltas that are not folded, of at most half a second.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._served_since_fold(of_pool_id int, of_user_id int) RETURNS boolean LANGUAGE sql STABLE
AS $$
    SELECT EXISTS (
        SELECT FROM weft.fold f
        JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto)
        JOIN weft.batch b ON b.batch_id = d.batch_id
        WHERE d.pool_id = of_pool_id AND b.user_id = of_user_id AND d.n_running > 0)
$$;
