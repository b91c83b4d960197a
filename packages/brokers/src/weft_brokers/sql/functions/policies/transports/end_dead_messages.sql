-- end_dead_messages: forget messages that were sent again.
-- Safe to repeat: yes.
-- Locks: as _check_epoch; dead_message (in the order of their numbers).
-- Plan: by key.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.end_dead_messages(epoch bigint, dead_ids bigint[]) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
    DELETE FROM weft.dead_message d
    USING (
        SELECT x.dead_id
        FROM weft.dead_message x
        WHERE x.dead_id = ANY (dead_ids)
        ORDER BY x.dead_id
        FOR UPDATE
    ) gone
    WHERE d.dead_id = gone.dead_id;
END $$;
