-- add_reservations: keep these workers for these jobs, and tell them.
-- Called by: DriverStore.add_reservations.   Safe to repeat: yes. A worker or a job that has a reservation keeps it.
-- Locks: as _check_epoch; reservation.   Plan: by key.   Returns: how many are new.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.add_reservations(epoch bigint, incarnation_ids int[], batch_ids bigint[], job_ids int[]) RETURNS int
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_n int;
BEGIN
    PERFORM weft._check_epoch(add_reservations.epoch);
    WITH new AS (
        INSERT INTO weft.reservation (incarnation_id, batch_id, job_id, user_id)
        SELECT t.i, t.b, t.j, b.user_id FROM unnest(incarnation_ids, batch_ids, job_ids) t (i, b, j)
        JOIN weft.batch b ON b.batch_id = t.b ORDER BY t.i
        ON CONFLICT DO NOTHING RETURNING incarnation_id)
    SELECT count(pg_notify('worker', n.incarnation_id::text)) INTO v_n FROM new n;
    RETURN v_n;
END $$;
