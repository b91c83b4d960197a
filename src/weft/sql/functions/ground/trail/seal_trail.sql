-- seal_trail: one bounded step: give committed entries of the trail their numbers, and to each a digest that
--   goes over the one before it.
-- Entries get no number when they are written: writers would wait for each other, or leave gaps.
-- Safe to repeat: yes.
-- For: DriverStore.sweep, again and again until it returns 0.
-- Locks: as _check_epoch; trail.
-- Plan: the first unsealed entries; sealed ones by request.
-- limit_jobs: how many entries at most.
-- Returns: how many it took. Of several entries of one request the first one is sealed.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.seal_trail(
    epoch bigint, limit_jobs int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql PLAN_ONCE AS $$
DECLARE
    v_head weft.trail_head;
    v_row record;
    v_new weft.trail_entry;
    v_n bigint := 0;
BEGIN
    IF NOT EXISTS (SELECT FROM weft.trail_unsealed) THEN
        RETURN 0;
    END IF;
    SELECT h.* INTO v_head FROM weft.trail_head h FOR NO KEY UPDATE;
    FOR v_row IN
        WITH gone AS (
            DELETE FROM weft.trail_unsealed u
            WHERE u.ctid = ANY (
                ARRAY(SELECT x.ctid FROM weft.trail_unsealed x ORDER BY x.at LIMIT limit_jobs)
            )
            RETURNING u.*
        )
        SELECT
            g AS entry,
            EXISTS (SELECT FROM weft.trail_entry t WHERE t.request_id = g.request_id)
                OR row_number() OVER (PARTITION BY g.request_id ORDER BY g.at) > 1 AS is_known
        FROM gone g
        ORDER BY g.at, g.request_id
    LOOP
        v_n := v_n + 1;
        CONTINUE WHEN v_row.is_known;
        v_head.number := v_head.number + 1;
        v_new := jsonb_populate_record(NULL::weft.trail_entry, to_jsonb(v_row.entry));
        v_new.number := v_head.number;
        v_new.sealed_at := seal_trail.at;
        v_head.digest := weft._trail_digest(v_head.digest, v_new);
        v_new.digest := v_head.digest;
        INSERT INTO weft.trail_entry SELECT v_new.*;
    END LOOP;
    UPDATE weft.trail_head SET number = v_head.number, digest = v_head.digest;
    RETURN v_n;
END $$;
