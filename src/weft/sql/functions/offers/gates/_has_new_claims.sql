-- _has_new_claims: whether a user has claims that the counters do not include yet, those since the last fold.
-- Locks: none.   Plan: the deltas not yet folded, at most half a second of them.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_new_claims(of_pool_id int, of_user_id int) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM weft.fold f
        JOIN weft.job_delta d ON d.xid >= pg_snapshot_xmin(f.upto) AND NOT pg_visible_in_snapshot(d.xid, f.upto)
        JOIN weft.batch b ON b.batch_id = d.batch_id
        WHERE d.pool_id = of_pool_id AND b.user_id = of_user_id AND d.n_running > 0)
$$;
