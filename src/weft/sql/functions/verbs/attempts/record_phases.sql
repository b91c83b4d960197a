-- record_phases: record what running attempts are doing now.
-- Safe to repeat: yes.   Locks: job (in key order).   Plan: job by key for each report; notes by key, of those alone that say something.
-- messages: what an engine elsewhere says, cut at 300 characters; NULL or empty: nothing.
-- Returns: one verdict per report, in order: ok, or stale if the reporter does not own the attempt.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.record_phases(
    incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[], phases smallint[],
    messages text[] DEFAULT NULL, at timestamptz DEFAULT clock_timestamp())
RETURNS text[] LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_n bigint[];
BEGIN
    WITH report AS MATERIALIZED (
        SELECT * FROM unnest(batch_ids, job_ids, attempts, phases) WITH ORDINALITY AS t (batch_id, job_id, attempt, phase, n)
        ORDER BY batch_id, job_id),
    upd AS (
        UPDATE weft.job j SET phase = r.phase FROM report r
        WHERE j.batch_id = r.batch_id AND j.job_id = r.job_id AND j.attempt = r.attempt AND j.state = STATE_RUNNING
          AND j.incarnation_id = record_phases.incarnation_id
        RETURNING r.n, j.batch_id, j.job_id, j.attempt, j.phase, j.tenant_id),
    note AS (
        INSERT INTO weft.attempt_note AS n (batch_id, job_id, attempt, phase, tenant_id, at, message)
        SELECT u.batch_id, u.job_id, u.attempt, u.phase, u.tenant_id, record_phases.at, left(messages[u.n], 300)
        FROM upd u WHERE messages[u.n] <> ''
        ON CONFLICT (batch_id, job_id, attempt, phase) DO UPDATE SET message = excluded.message, at = excluded.at
        WHERE n.message <> excluded.message)
    SELECT array_agg(u.n) INTO v_n FROM upd u;
    RETURN ARRAY(SELECT CASE WHEN n = ANY (v_n) THEN 'ok' ELSE 'stale' END FROM generate_series(1, cardinality(job_ids)) n ORDER BY n);
END $$;
