-- _pool_line: what the jobs of other users in a pool ask for that are ready, in mCPU, and how many such users
--   there are.
-- Plan: users with ready work in the pool, by the partial index.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._pool_line(of_pool_id int, of_user_id int) RETURNS jsonb
LANGUAGE sql STABLE SECURITY DEFINER AS $$
    SELECT jsonb_build_object('others_m', coalesce(sum(s.ready_m), 0), 'others', count(*))
    FROM weft.user_share s
    WHERE s.pool_id = of_pool_id AND s.active AND s.user_id <> of_user_id AND s.ready_m > 0
$$;
