-- _has_new_claims: whether a user has claims that the counters do not include yet, those since the last fold.
-- Locks: none.   Plan: the deltas not yet folded, at most half a second of them.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_new_claims(of_pool_id int, of_user_id int) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM weft._unfolded() d
        JOIN weft.batch b ON b.batch_id = d.batch_id
        WHERE d.pool_id = of_pool_id AND b.user_id = of_user_id AND d.n_running > 0)
$$;
