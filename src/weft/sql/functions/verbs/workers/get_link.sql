-- get_link: what a worker outside may be told of: the pool and name of an incarnation that its token has
--   registered, and its place.
-- Plan: incarnation, token and worker by key.
-- Returns: one row, or none if this token has not registered the incarnation, was revoked or has expired.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.get_link(
    incarnation_id int, by_token bigint, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (pool_id int, log_place text, worker text) LANGUAGE sql STABLE AS $$
    SELECT i.pool_id, i.log_place, w.name
    FROM weft.worker_incarnation i
    JOIN weft.token t
    USING (token_id)
    JOIN weft.worker w
    USING (worker_id)
    WHERE i.incarnation_id = get_link.incarnation_id
        AND i.token_id = get_link.by_token
        AND (t.expires_at IS NULL OR t.expires_at > get_link.at)
$$;
