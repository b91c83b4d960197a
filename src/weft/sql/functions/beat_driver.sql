-- beat_driver: the heartbeat of a leader that sleeps: is there something to do after all, and when would the next worker be lost.
-- Called by: DriverStore.beat.   Safe to repeat: yes.   Locks and plan: as idle_driver and next_due; callbacks by the index of dates.
-- Returns: whether it may sleep on, how long until the next worker is lost (NULL without workers), and whether a callback is due.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.beat_driver(epoch bigint, grace_s double precision) RETURNS TABLE (idle boolean, due interval, callback_due boolean)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp SET enable_seqscan = off
AS $$
    SELECT weft.idle_driver(beat_driver.epoch), weft.next_due(beat_driver.epoch, beat_driver.grace_s),
           EXISTS (SELECT FROM weft.callback_delivery d WHERE d.next_at <= clock_timestamp())
$$;
