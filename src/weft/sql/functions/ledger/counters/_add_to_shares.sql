-- _add_to_shares: add to what users have ready and running in pools, and to what jobs use of each pool.
-- Safe to repeat: no.
-- For: fold_deltas, when it waits for nothing else any more: whoever announces work of a user waits for this
--   row, and may hold ranges that the fold moves.
-- Locks: share.
-- Plan: by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._add_to_shares(
    pool_ids int[], user_ids int[], ready bigint[], ready_m bigint[], running_m bigint[]
) RETURNS void LANGUAGE sql AS $$
    UPDATE weft.user_share s
    SET
        running_m = s.running_m + x.running_m,
        n_ready = s.n_ready + x.n_ready,
        ready_m = s.ready_m + x.ready_m,
        load = (s.running_m + x.running_m)::double precision / s.weight
    FROM unnest(
        _add_to_shares.pool_ids,
        _add_to_shares.user_ids,
        _add_to_shares.ready,
        _add_to_shares.ready_m,
        _add_to_shares.running_m
    ) x (pool_id, user_id, n_ready, ready_m, running_m)
    WHERE s.pool_id = x.pool_id AND s.user_id = x.user_id;
    INSERT INTO weft.pool_load AS l (pool_id, running_m)
    SELECT x.pool_id, sum(x.m)
    FROM unnest(_add_to_shares.pool_ids, _add_to_shares.running_m) x (pool_id, m)
    GROUP BY 1
    ON CONFLICT (pool_id) DO UPDATE
    SET running_m = l.running_m + excluded.running_m
$$;
