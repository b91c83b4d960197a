-- _recount_shares: make the demand of each user equal to that of the user's batches, and the load of each pool to that of its users.
-- Called by: begin_term, migrate. A driver of the previous release that folds while the schema changes knows neither. For one release.
-- Safe to repeat: yes.
-- Locks: term (by the caller); share.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._recount_shares() RETURNS void LANGUAGE sql
AS $$
    UPDATE weft.user_share s SET ready_m = x.ready_m
    FROM (SELECT u.pool_id, u.user_id, coalesce(sum(c.ready_m), 0) AS ready_m FROM weft.user_share u
          LEFT JOIN weft.user_batch_count c ON c.pool_id = u.pool_id AND c.user_id = u.user_id GROUP BY 1, 2) x
    WHERE x.pool_id = s.pool_id AND x.user_id = s.user_id AND x.ready_m <> s.ready_m;
    INSERT INTO weft.pool_load AS l (pool_id, running_m) SELECT s.pool_id, sum(s.running_m) FROM weft.user_share s GROUP BY 1
    ON CONFLICT (pool_id) DO UPDATE SET running_m = excluded.running_m WHERE l.running_m <> excluded.running_m
$$;
