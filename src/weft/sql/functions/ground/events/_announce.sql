-- _announce: wake everyone who waits for what this transaction did, and make users with new ready work
--   visible to claimers. Ready work is announced by pool, user and lane; some workers that serve the lane are
--   woken, as _wake_workers does (NULL: all of the pool), unless the caller does that (`wakes`).
-- Safe to repeat: yes.
-- For: every function that changes a state, as its last act.
-- Locks: announcements (shared, until the commit); new_work (shared, until the commit); share; as _end_sleep.
--   Whoever goes to sleep takes the first exclusively, so no wake-up is lost; the second is taken with new
--   ready work only.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._announce(
    pool_ids int[] DEFAULT '{}',
    user_ids int[] DEFAULT '{}',
    lane_ids int[] DEFAULT '{}',
    wakes boolean DEFAULT true
) RETURNS void LANGUAGE plpgsql SECURITY DEFINER PLAN_ONCE AS $$
DECLARE
    v_locked boolean;
    v_driver boolean;
    v_listener boolean;
BEGIN
    -- as an assignment it costs a tenth of a statement
    v_locked := pg_advisory_xact_lock_shared(7701, 0) IS NOT NULL;
    IF cardinality(pool_ids) > 0 THEN
        v_locked := pg_advisory_xact_lock_shared(7705, 0) IS NOT NULL;
        INSERT INTO weft.user_share AS s (pool_id, user_id, tenant_id, active, weight)
        SELECT n.pool_id, n.user_id, u.tenant_id, true, u.weight
        FROM (
            SELECT DISTINCT x.pool_id, x.user_id
            FROM unnest(_announce.pool_ids, _announce.user_ids) x (pool_id, user_id)
            ORDER BY 1, 2
        ) n
        JOIN weft.tenant_user u
        USING (user_id)
        WHERE NOT EXISTS (
            SELECT FROM weft.user_share a WHERE a.pool_id = n.pool_id AND a.user_id = n.user_id AND a.active
        )
        ON CONFLICT (pool_id, user_id) DO UPDATE
        SET active = true;
        v_locked := wakes AND weft._wake_workers(_announce.pool_ids, _announce.lane_ids, 16) IS NULL;
    END IF;
    SELECT d.waiting, EXISTS (SELECT FROM weft.event_listener e WHERE e.waiting)
    INTO v_driver, v_listener
    FROM weft.driver_state d;
    IF v_driver AND weft._end_sleep() THEN
        PERFORM pg_notify('driver', '');
    END IF;
    IF v_listener THEN
        PERFORM pg_notify('events', '');
    END IF;
END $$;
