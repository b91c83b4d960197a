-- _has_lost_share: whether a job was offered when its user had more weight in fair share, by a tenth at least, and others have work in the
--   pool, who may come first now.
-- Plan: by key; the first two users with work.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_lost_share(one weft.transport_offer) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
        SELECT FROM weft.batch b JOIN weft.user_share s ON s.pool_id = one.pool_id AND s.user_id = b.user_id
        WHERE b.batch_id = one.batch_id AND s.weight < 0.9 * one.weight AND EXISTS (
            SELECT FROM weft.user_share x WHERE x.pool_id = one.pool_id AND x.active AND x.user_id <> b.user_id))
$$;
