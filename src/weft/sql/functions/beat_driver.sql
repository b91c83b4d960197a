-- beat_driver: the heartbeat of a leader that sleeps: is there something to do after all, and when would the next worker be lost.
-- Called by: DriverStore.beat.   Safe to repeat: yes.   Locks and plan: as idle_driver and next_due.
-- Returns: whether it may sleep on, and how long until the next worker is lost; NULL without workers.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.beat_driver(epoch bigint, grace_s double precision) RETURNS TABLE (idle boolean, due interval)
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$ SELECT weft.idle_driver(beat_driver.epoch), weft.next_due(beat_driver.epoch, beat_driver.grace_s) $$;
