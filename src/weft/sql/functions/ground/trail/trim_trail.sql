-- trim_trail: one bounded step: remove the oldest entries of the trail, without a gap, and keep the digest of
--   the last one that is gone: the chain begins after it.
-- Safe to repeat: yes.
-- For: DriverStore.trim_trail, again and again until it returns 0.
-- Locks: as _check_epoch; trail.
-- Plan: entries by number, from the first one on.
-- keep_s: entries stay so long after they were sealed; at least a day, whoever asks.
-- Returns: how many are gone.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.trim_trail(
    epoch bigint, keep_s double precision, limit_rows int, at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_last weft.trail_entry;
    v_n bigint;
BEGIN
    PERFORM FROM weft.trail_head h FOR NO KEY UPDATE;
    SELECT x.*
    INTO v_last
    FROM (SELECT t.* FROM weft.trail_entry t ORDER BY t.number LIMIT limit_rows) x
    WHERE x.sealed_at < trim_trail.at - greatest(keep_s, 86400) * interval '1 second'
    ORDER BY x.number DESC
    LIMIT 1;
    IF NOT FOUND THEN
        RETURN 0;
    END IF;
    DELETE FROM weft.trail_entry t WHERE t.number <= v_last.number;
    GET DIAGNOSTICS v_n = ROW_COUNT;
    UPDATE weft.trail_head SET removed_number = v_last.number, removed_digest = v_last.digest;
    RETURN v_n;
END $$;
