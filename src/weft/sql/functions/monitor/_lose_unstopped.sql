-- _lose_unstopped: give up workers that have not stopped an attempt in time; their attempts are lost, and they stop all they have.
-- Called by: stop_overdue.   Safe to repeat: yes.   Locks: as _lose_incarnation.   Plan: stops by date.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._lose_unstopped(at timestamptz) RETURNS TABLE (worker text) LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_late record;
BEGIN
    FOR v_late IN
        SELECT DISTINCT s.incarnation_id, w.name FROM weft.attempt_stop s
        JOIN weft.worker_incarnation i USING (incarnation_id) JOIN weft.worker w USING (worker_id)
        WHERE s.due_at <= _lose_unstopped.at AND NOT s.gone ORDER BY s.incarnation_id
    LOOP
        PERFORM weft._lose_incarnation(v_late.incarnation_id, _lose_unstopped.at);
        worker := v_late.name;
        RETURN NEXT;
    END LOOP;
END $$;
