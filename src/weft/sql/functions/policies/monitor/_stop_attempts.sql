-- _stop_attempts: end up to limit_jobs attempts that are beyond a limit of their queue, and tell their
--   workers to stop them. Each job is blocked until its worker has, or is an error if the queue says so, or
--   it was stopped as often as the queue allows.
-- Safe to repeat: yes.
-- Locks: monitor (SKIP LOCKED); job (SKIP LOCKED, in key order); as complete_attempts (of one worker).
-- Plan: watches by date; jobs by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._stop_attempts(limit_jobs int, confirm_s double precision, at timestamptz)
RETURNS TABLE (batch_id bigint, job_id int, attempt smallint, worker text, message text, goes_on boolean)
LANGUAGE plpgsql AS $$
DECLARE
    v_due weft.attempt_watch[];
    v_set record;
    v_zeros bigint[];
BEGIN
    v_due := ARRAY(
        SELECT w
        FROM weft.attempt_watch w
        WHERE w.due_at <= _stop_attempts.at
        ORDER BY w.due_at
        LIMIT limit_jobs
        FOR UPDATE SKIP LOCKED
    );
    FOR v_set IN
        SELECT
            o.incarnation_id,
            array_agg(o.batch_id) AS batch_ids,
            array_agg(o.job_id) AS job_ids,
            array_agg(o.attempt) AS attempts,
            array_agg(o.why) AS messages,
            array_agg(o.cause) AS causes,
            array_agg(o.final) AS finals,
            array_agg(o.age_us) AS age_us,
            count(*)::int AS n,
            min(o.tenant_id) AS tenant_id
        FROM weft._overdue(v_due, _stop_attempts.at) o
        GROUP BY o.incarnation_id
        ORDER BY o.incarnation_id
        LIMIT 1
    LOOP
        INSERT INTO weft.attempt_stop (batch_id, job_id, attempt, tenant_id, incarnation_id, final, due_at)
        SELECT
            t.b,
            t.j,
            t.a,
            v_set.tenant_id,
            v_set.incarnation_id,
            t.final,
            _stop_attempts.at + interval '1 s' * confirm_s
        FROM unnest(v_set.batch_ids, v_set.job_ids, v_set.attempts, v_set.finals) t (b, j, a, final);
        v_zeros := array_fill(0::bigint, ARRAY[v_set.n]);
        PERFORM weft.complete_attempts(
            v_set.incarnation_id, v_set.batch_ids, v_set.job_ids, v_set.attempts, v_set.age_us, v_zeros,
            array_fill(REASON_OVERDUE::smallint, ARRAY[v_set.n]),
            NULL, NULL, v_zeros, v_zeros, v_zeros, NULL, NULL, NULL, NULL, v_set.messages, v_set.causes,
            at => _stop_attempts.at
        );
        PERFORM pg_notify('cancel', b::text) FROM (SELECT DISTINCT x FROM unnest(v_set.batch_ids) x) d (b);
        RETURN QUERY
        SELECT t.b, t.j, t.a, w.name, t.m, NOT t.final
        FROM unnest(v_set.batch_ids, v_set.job_ids, v_set.attempts, v_set.messages, v_set.finals) t (
            b, j, a, m, final
        )
        JOIN weft.worker_incarnation i ON i.incarnation_id = v_set.incarnation_id
        JOIN weft.worker w
        USING (worker_id);
    END LOOP;
    -- Those that have ended since the last heartbeat, or are in another phase: the next one notes them again.
    DELETE FROM weft.attempt_watch w
    USING unnest(v_due) d
    WHERE w.batch_id = d.batch_id
        AND w.job_id = d.job_id
        AND NOT EXISTS (
            SELECT
            FROM weft.job j
            WHERE j.batch_id = d.batch_id
                AND j.job_id = d.job_id
                AND j.attempt = d.attempt
                AND j.state = STATE_RUNNING
                AND j.phase = d.phase
        );
END $$;
