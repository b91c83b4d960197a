-- add_reservations: keep these workers for these jobs, and tell them; say for how long they may run other
--   jobs.
-- Safe to repeat: yes. A worker or a job that has a reservation keeps it.
-- Locks: as _check_epoch; reservation.
-- Plan: by key.
-- Returns: how many are new.
-- fill_seconds: seconds; NULL: not known. The first date that is known counts, or an earlier one: a later one
--   would not keep the promise.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.add_reservations(
    epoch bigint, incarnation_ids int[], batch_ids bigint[], job_ids int[], fill_seconds double precision[]
) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
    v_n int;
    v_at timestamptz := clock_timestamp();
BEGIN
    UPDATE weft.reservation r
    SET fill_until = least(r.fill_until, v_at + x.s * interval '1 second')
    FROM (
        SELECT y.ctid AS tid, t.s
        FROM unnest(incarnation_ids, batch_ids, job_ids, fill_seconds) t (i, b, j, s)
        JOIN weft.reservation y ON y.incarnation_id = t.i AND y.batch_id = t.b AND y.job_id = t.j
        WHERE t.s IS NOT NULL
        ORDER BY t.i
        FOR UPDATE OF y SKIP LOCKED
    ) x
    WHERE r.ctid = x.tid;
    WITH new AS (
        INSERT INTO weft.reservation (incarnation_id, batch_id, job_id, user_id, fill_until)
        SELECT t.i, t.b, t.j, b.user_id, v_at + t.s * interval '1 second'
        FROM unnest(incarnation_ids, batch_ids, job_ids, fill_seconds) t (i, b, j, s)
        JOIN weft.batch b ON b.batch_id = t.b
        ORDER BY t.i
        ON CONFLICT DO NOTHING
        RETURNING incarnation_id
    )
    SELECT count(pg_notify('worker', n.incarnation_id::text))
    INTO v_n
    FROM new n;
    RETURN v_n;
END $$;
