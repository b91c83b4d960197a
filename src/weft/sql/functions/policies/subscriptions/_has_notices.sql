-- _has_notices: whether there are events that open subscriptions may ask for.
-- Plan: one look at an empty index as a rule; the next event by key.
-- What an older writer still withholds is waited for by the loop itself.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_notices() RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM weft.subscription s WHERE s.ended_at IS NULL) THEN
        RETURN false;
    END IF;
    RETURN EXISTS (SELECT FROM weft._notices_from() f CROSS JOIN LATERAL (
        SELECT FROM weft.event e WHERE (e.xid, e.event_id) > (f.xid, f.event_id) AND e.xid < pg_snapshot_xmin(pg_current_snapshot())
        ORDER BY e.xid, e.event_id LIMIT 1) n);
END $$;
