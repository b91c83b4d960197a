-- record_phases: record what running attempts are doing now.
-- Safe to repeat: yes.
-- Locks: job (in key order).
-- Plan: job by key for each report; notes by key, of those alone that say something.
-- messages: what an engine elsewhere says, cut at 300 characters; NULL or empty: nothing.
-- ages_us: since when; NULL: since now.
-- Each job is moved by itself, because the status that follows is dated by `weft.since`.
-- Returns: one verdict per report, in order: ok, or stale if the reporter does not own the attempt.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.record_phases(
    incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    phases smallint[],
    messages text[] DEFAULT NULL,
    ages_us bigint[] DEFAULT NULL,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS text[] LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    r record;
    v_job weft.job;
    v_verdicts text[] := array_fill('stale'::text, ARRAY[cardinality(job_ids)]);
BEGIN
    FOR r IN
        SELECT t.*, record_phases.at - greatest(t.age_us, 0) * interval '1 microsecond' AS since
        FROM unnest(batch_ids, job_ids, attempts, phases, ages_us)
            WITH ORDINALITY AS t (batch_id, job_id, attempt, phase, age_us, n)
        ORDER BY batch_id, job_id
    LOOP
        PERFORM set_config('weft.since', r.since::text, true);
        UPDATE weft.job j
        SET phase = r.phase
        WHERE j.batch_id = r.batch_id
            AND j.job_id = r.job_id
            AND j.attempt = r.attempt
            AND j.state = STATE_RUNNING
            AND j.incarnation_id = record_phases.incarnation_id
        RETURNING j.*
        INTO v_job;
        CONTINUE WHEN NOT FOUND;
        v_verdicts[r.n] := 'ok';
        IF messages[r.n] <> '' THEN
            INSERT INTO weft.attempt_note AS n (batch_id, job_id, attempt, phase, tenant_id, at, message)
            VALUES (
                r.batch_id,
                r.job_id,
                r.attempt,
                r.phase,
                v_job.tenant_id,
                greatest(v_job.claimed_at, r.since),
                left(messages[r.n], 300)
            )
            ON CONFLICT (batch_id, job_id, attempt, phase) DO UPDATE
            SET message = excluded.message, at = excluded.at
            WHERE n.message <> excluded.message;
        END IF;
    END LOOP;
    PERFORM set_config('weft.since', '', true);
    RETURN v_verdicts;
END $$;
