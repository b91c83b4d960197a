-- _pause_for_limit: one bounded step of a pause: hold the group of a limit, or the open batches of its
--   project or user; then stop what runs in them. A limit that is only near holds them as well, so that no
--   job starts which it does not admit; what runs goes on.
-- Safe to repeat: yes.
-- Returns: how many groups or attempts; 0: nothing is left.
-- Locks: batch (exclusive, in order); as _stop_for_limit (instead); admission (nobody else); as
--   _hold_for_limit; as _announce.
-- Plan: as _groups_of_limit; holds by key; open admissions by the index of their limit; as _stop_for_limit.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._pause_for_limit(of_limit weft.spend_limit, limit_rows int) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_batches bigint[];
    v_groups int[];
    v_batch bigint;
BEGIN
    SELECT array_agg(x.batch_id ORDER BY x.batch_id), array_agg(x.group_id ORDER BY x.batch_id)
    INTO v_batches, v_groups
    FROM (
        SELECT g.*
        FROM weft._groups_of_limit(of_limit) g
        WHERE NOT EXISTS (
            SELECT
            FROM weft.group_hold h
            WHERE h.batch_id = g.batch_id
                AND h.group_id = g.group_id
                AND h.limit_id = of_limit.limit_id
                AND h.released_at IS NULL
                AND h.admits = (of_limit.stage <> 'reached')
        )
        ORDER BY g.batch_id
        LIMIT limit_rows
    ) x;
    IF v_batches IS NULL THEN
        RETURN CASE
            WHEN of_limit.stage = 'reached' THEN weft._stop_for_limit(of_limit.limit_id, limit_rows)
            ELSE 0
        END;
    END IF;
    FOREACH v_batch IN ARRAY v_batches LOOP
        PERFORM pg_advisory_xact_lock(v_batch);
    END LOOP;
    -- From now on what was admitted before does not start.
    UPDATE weft.admission a
    SET open = false
    WHERE a.limit_id = of_limit.limit_id AND a.open AND a.batch_id = ANY (v_batches);
    PERFORM weft._hold_for_limit(v_batches, v_groups, of_limit, clock_timestamp());
    PERFORM weft._announce();
    RETURN cardinality(v_batches);
END $$;
