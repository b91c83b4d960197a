-- record_tests: what tests of conditions said, and when they are tested next. At those that passed jobs go
--   on, few at first (release_conditions).
-- Safe to repeat: no.
-- Locks: as _check_epoch; condition (in the order of their ids).
-- Plan: conditions and deltas by key; the first job of each condition by date.
-- The next test comes when jobs that went on would have met the condition again; then twice as many go,
--   unless one has come back.
-- Returns: those at which it said something else than before.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.record_tests(
    epoch bigint,
    condition_ids bigint[],
    have_passed boolean[],
    messages text[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS SETOF bigint LANGUAGE plpgsql PLAN_BY_KEY AS $$
BEGIN
    PERFORM
    FROM weft.condition c
    WHERE c.condition_id = ANY (condition_ids)
    ORDER BY c.condition_id
    FOR UPDATE;
    WITH gone AS (
        DELETE FROM weft.condition_delta d
        WHERE d.condition_id = ANY (condition_ids)
        RETURNING d.condition_id, d.n
    )
    UPDATE weft.condition c
    SET n_jobs = c.n_jobs + g.n
    FROM (SELECT x.condition_id, sum(x.n) AS n FROM gone x GROUP BY x.condition_id) g
    WHERE c.condition_id = g.condition_id;
    RETURN QUERY
    WITH said AS MATERIALIZED (
        SELECT
            t.*,
            c.passed AS had_passed,
            c.message AS had_said,
            (SELECT min(k.next_at) FROM weft.blocked_job k WHERE k.condition_id = t.id) AS next_at
        FROM unnest(condition_ids, have_passed, messages) t (id, passed, message)
        CROSS JOIN LATERAL (
            SELECT x.passed, x.message FROM weft.condition x WHERE x.condition_id = t.id OFFSET 0
        ) c
    ),
    upd AS (
        UPDATE weft.condition c
        SET
            tested_at = record_tests.at,
            passed = s.passed,
            message = s.message,
            n_going = CASE WHEN s.passed THEN greatest(c.n_going, c.allowance) ELSE c.n_going END,
            allowance = CASE WHEN s.passed THEN least(c.allowance * 2, 1000000) ELSE 10 END,
            rising = s.passed,
            next_test_at = CASE
                WHEN s.passed
                    THEN record_tests.at + interval '1 ms' * least(greatest(2 * c.found_out_ms, 250), 60000)
                ELSE greatest(s.next_at, record_tests.at + interval '1 s')
            END
        FROM said s
        WHERE c.condition_id = s.id
    )
    SELECT s.id
    FROM said s
    WHERE (s.had_passed, s.had_said) IS DISTINCT FROM (s.passed, s.message);
END $$;
