-- _may_try: whether a worker that was cordoned as a black hole may claim the one job of its try, in this
--   transaction.
-- Safe to repeat: yes.
-- Locks: incarnation (its row, SKIP LOCKED).
-- Plan: by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._may_try(of_incarnation_id int) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    PERFORM
    FROM weft.worker_incarnation i
    WHERE i.incarnation_id = of_incarnation_id AND i.trying
    FOR NO KEY UPDATE SKIP LOCKED;
    RETURN FOUND;
END $$;
