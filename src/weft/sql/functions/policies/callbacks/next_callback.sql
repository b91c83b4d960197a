-- next_callback: the time until another callback is due, apart from those that are due already and wait for
--   others to end.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: by the index of dates.
-- Returns: NULL if there is none.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.next_callback(epoch bigint, at timestamptz DEFAULT clock_timestamp())
RETURNS interval LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
    RETURN (
        SELECT min(d.next_at) - next_callback.at
        FROM weft.callback_delivery d
        WHERE d.next_at > next_callback.at AND NOT d.behind
    );
END $$;
