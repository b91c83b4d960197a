-- black_holes: as _black_holes, for the driver.
-- Safe to repeat: yes, it only reads.
-- Locks: as _check_term.
-- Plan: as _black_holes.
-- Returns: `due_in_s`: negative if a try is overdue; NULL: none will be.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.black_holes(epoch bigint)
RETURNS TABLE (worker_id int, worker text, n_tries int, outcome text, due_in_s double precision)
LANGUAGE plpgsql AS $$
BEGIN
    RETURN QUERY
    SELECT b.worker_id, b.worker, b.n_tries, b.outcome, date_part('epoch', b.due_at - clock_timestamp())
    FROM weft._black_holes() b
    ORDER BY b.worker_id;
END $$;
