-- _conditions_due: in how much time the driver has something to do for a condition; negative: it is overdue; NULL: there is none, or not
--   before a test ends.
-- Plan: as _next_tests; those that are let go by index.   Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._conditions_due(busy bigint[], limit_rows int) RETURNS interval LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN EXISTS (SELECT FROM weft.condition g WHERE g.n_going > 0)
            OR EXISTS (SELECT FROM weft.condition f WHERE f.failed_by IS NOT NULL) THEN interval '-1 s'
        ELSE (SELECT min(n.next_test_at) FROM weft._next_tests(busy, limit_rows, 1, 'infinity') n) - clock_timestamp() END
$$;
