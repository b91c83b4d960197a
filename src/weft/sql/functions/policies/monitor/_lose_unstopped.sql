-- _lose_unstopped: give up a worker that has not stopped an attempt in time; its attempts are lost, and it
--   stops all it has. One at a time: the rows of another one would come in an order of their own.
-- Safe to repeat: yes.
-- Locks: as _lose_incarnation.
-- Plan: stops by date.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lose_unstopped(at timestamptz) RETURNS TABLE (worker text)
LANGUAGE plpgsql AS $$
DECLARE
    v_late record;
BEGIN
    SELECT s.incarnation_id, w.name
    INTO v_late
    FROM weft.attempt_stop s
    JOIN weft.worker_incarnation i
    USING (incarnation_id)
    JOIN weft.worker w
    USING (worker_id)
    WHERE s.due_at <= _lose_unstopped.at AND NOT s.gone
    ORDER BY s.incarnation_id
    LIMIT 1;
    IF FOUND THEN
        PERFORM weft._lose_incarnation(v_late.incarnation_id, _lose_unstopped.at);
        worker := v_late.name;
        RETURN NEXT;
    END IF;
END $$;
