-- lose_workers: end the incarnations that were silent for longer than the grace period, except those whose
--   attempts outlive their host; their attempts are lost.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; incarnation (its number, then its row, SKIP LOCKED); as _lose_incarnation; as
--   _settle_commands.
-- Returns: worker, incarnation, and its number of live attempts.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.lose_workers(
    epoch bigint, grace_s double precision, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (worker text, incarnation_id int, n_attempts bigint, silent_s double precision)
LANGUAGE plpgsql AS $$
DECLARE
    v_lost record;
BEGIN
    FOR v_lost IN
        SELECT i.incarnation_id, w.name, date_part('epoch', lose_workers.at - i.heartbeat_at) AS silent_s
        FROM weft.worker_incarnation i
        JOIN weft.worker w
        USING (worker_id)
        WHERE i.ended_at IS NULL
            AND NOT i.outlives
            AND i.heartbeat_at < lose_workers.at - lose_workers.grace_s * interval '1 second'
    LOOP
        -- before the row, as in _lose_incarnation
        PERFORM pg_advisory_xact_lock(7703, v_lost.incarnation_id);
        PERFORM
        FROM weft.worker_incarnation i
        WHERE i.incarnation_id = v_lost.incarnation_id
            AND i.ended_at IS NULL
            AND i.heartbeat_at < lose_workers.at - lose_workers.grace_s * interval '1 second'
        FOR UPDATE SKIP LOCKED;
        CONTINUE WHEN NOT FOUND;  -- it was heard of, or has ended, while this waited
        RETURN QUERY
        SELECT
            v_lost.name,
            v_lost.incarnation_id,
            weft._lose_incarnation(v_lost.incarnation_id, lose_workers.at),
            v_lost.silent_s;
    END LOOP;
    IF v_lost IS NOT NULL THEN
        PERFORM weft._settle_commands(lose_workers.at);  -- nobody will acknowledge those of the lost
    END IF;
END $$;
