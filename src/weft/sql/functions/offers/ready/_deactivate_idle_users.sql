-- _deactivate_idle_users: stop claimers from examining users without ready work.
-- Safe to repeat: yes.
-- For: fold_deltas, as its last act.
-- Locks: new_work (exclusive, tried); share. Whoever makes work visible holds it shared from before it looks
--   at the flag until its commit, so with this lock no such transaction is under way. Claims and ends do not
--   hold it: there are always some.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._deactivate_idle_users() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM weft.user_share s WHERE s.active AND s.n_ready <= 0)
        AND pg_try_advisory_xact_lock(7705, 0)
    THEN
        UPDATE weft.user_share s
        SET active = false
        WHERE s.active
            AND s.n_ready <= 0
            AND NOT EXISTS (
                SELECT
                FROM weft.runnable r
                WHERE r.gate_set_id = 0 AND r.pool_id = s.pool_id AND r.user_id = s.user_id
            )
            AND NOT EXISTS (
                SELECT
                FROM weft.ready_job q
                WHERE q.gate_set_id = 0 AND q.pool_id = s.pool_id AND q.user_id = s.user_id
            );
    END IF;
END $$;
