-- events_now: the position after the newest event that readers may see.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.events_now() RETURNS TABLE (xid bigint, event_id bigint)
LANGUAGE sql STABLE AS $$
    SELECT pg_snapshot_xmin(pg_current_snapshot())::text::bigint, 0::bigint
$$;
