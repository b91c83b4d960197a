-- record_test: what a test of a condition said, and when it is tested next. If it passed, jobs go on, few at first (release_conditions).
-- Called by: DriverStore.record_test; after a test that did not pass when the jobs that were due wait on (postpone_blocked).
-- Safe to repeat: no.   Locks: as _check_epoch; condition.   Plan: by key; the first job of the condition by date.
-- The next test comes when jobs that went on would have met the condition again; then twice as many go, unless one has come back.
-- Owner: weft_system.  Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.record_test(epoch bigint, of_condition_id bigint, has_passed boolean, said text,
    at timestamptz DEFAULT clock_timestamp()) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off SET enable_bitmapscan = off
AS $$
DECLARE
    v_next timestamptz; v_n bigint;
BEGIN
    PERFORM weft._check_epoch(record_test.epoch);
    PERFORM FROM weft.condition c WHERE c.condition_id = of_condition_id FOR UPDATE;
    SELECT min(k.next_at) INTO v_next FROM weft.blocked_job k WHERE k.condition_id = of_condition_id;
    WITH gone AS (DELETE FROM weft.condition_delta d WHERE d.condition_id = of_condition_id RETURNING d.n)
    SELECT coalesce(sum(g.n), 0) INTO v_n FROM gone g;
    UPDATE weft.condition c SET tested_at = record_test.at, passed = has_passed, message = said, n_jobs = c.n_jobs + v_n,
        n_going = CASE WHEN has_passed THEN greatest(c.n_going, c.allowance) ELSE c.n_going END,
        allowance = CASE WHEN has_passed THEN least(c.allowance * 2, 1000000) ELSE 10 END, rising = has_passed,
        next_test_at = CASE WHEN has_passed THEN record_test.at + interval '1 ms' * least(greatest(2 * c.found_out_ms, 250), 60000)
            ELSE greatest(v_next, record_test.at + interval '1 s') END
    WHERE c.condition_id = of_condition_id;
END $$;
