-- _notices_from: the position from which events are looked at for subscriptions; no row: none is open.
-- Plan: by the index of open subscriptions; by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._notices_from() RETURNS TABLE (xid xid8, event_id bigint)
LANGUAGE sql STABLE AS $$
    SELECT
        CASE WHEN r.xid >= o.xid THEN r.xid ELSE o.xid END,
        CASE WHEN r.xid >= o.xid THEN r.event_id ELSE 0 END
    FROM (SELECT s.xid FROM weft.subscription s WHERE s.ended_at IS NULL ORDER BY s.xid LIMIT 1) o
    LEFT JOIN weft.event_reader r ON r.reader = 'subscriptions'
$$;
