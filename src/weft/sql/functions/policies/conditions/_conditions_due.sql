-- _conditions_due: in how much time the driver has something to do for a condition; negative: it is overdue; NULL: there is none.
-- Plan: the first by date; those that are let go by index.
-- busy: those that are being tested.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._conditions_due(busy bigint[]) RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM weft.condition g WHERE g.n_going > 0)
            OR EXISTS (SELECT FROM weft.condition f WHERE f.failed_by IS NOT NULL) THEN interval '-1 s'
        ELSE (SELECT c.next_test_at FROM weft.condition c WHERE c.condition_id <> ALL (_conditions_due.busy)
            ORDER BY c.next_test_at LIMIT 1) - clock_timestamp() END
$$;
