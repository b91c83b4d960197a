-- _is_untouched: whether no other transaction that was under way at this snapshot, or is newer, has changed
--   or locked a visible row. `x`: the row's xmax.
-- For: _pick, _skip_touched, _pick_one, into which PostgreSQL puts its text. SKIP LOCKED alone locks a row
--   that another claim took and committed in between, and keeps the lock although the row no longer
--   qualifies: the report of its worker waited for that.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._is_untouched(x xid, snapshot pg_snapshot) RETURNS boolean
LANGUAGE sql STABLE AS $$
    -- Of the numbers that end with these 32 bits the one next to the snapshot's.
    SELECT x = '0'::xid
        OR x IS NOT DISTINCT FROM pg_current_xact_id_if_assigned()::xid
        OR pg_visible_in_snapshot(
            (
                pg_snapshot_xmax(snapshot)::text::bigint + 2147483648
                    - ((pg_snapshot_xmax(snapshot)::text::bigint + 2147483648 - x::text::bigint) & 4294967295)
            )::text::xid8,
            snapshot
        )
$$;
