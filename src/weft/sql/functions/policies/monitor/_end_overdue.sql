-- _end_overdue: end those of these jobs of a batch as errors that have been ready or blocked for longer than
--   their queue allows.
-- Safe to repeat: yes.
-- A job is ready since it became so, or since it ran, was blocked or was held; not before a date at its
--   gates. A held one does not end, nor one that waits for the stop of its attempt.
-- Locks: job (SKIP LOCKED, in key order); as _count_errors; as _end_waiting_as_errors; as _announce.
-- Plan: nothing if no queue of the tenant has such limits; jobs by key, and of each that waits in such a
--   queue its attempts, changes and gates by key.
-- Returns: how many jobs it ended, by what is said of them.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._end_overdue(of_batch_id bigint, after_job int, last_job int, at timestamptz)
RETURNS TABLE (n_jobs int, message text) LANGUAGE plpgsql AS $$
DECLARE
    v_batch record;
    v_set record;
    v_job int[];
    v_why text[];
BEGIN
    SELECT
        b.tenant_id,
        b.gate_set_id,
        (SELECT max(h.released_at) FROM weft.group_hold h WHERE h.batch_id = b.batch_id) AS released_at
    INTO v_batch
    FROM weft.batch b
    WHERE b.batch_id = of_batch_id AND NOT b.removing;
    IF NOT EXISTS (
        SELECT
        FROM weft.queue q
        WHERE q.tenant_id = v_batch.tenant_id
            AND q.monitor IS NOT NULL
            AND coalesce(q.monitor ->> 'ready_s', q.monitor ->> 'blocked_s') IS NOT NULL
    ) THEN
        RETURN;
    END IF;
    SELECT array_agg(l.job_id), array_agg(d.message)
    INTO v_job, v_why
    FROM (
        SELECT
            w.job_id,
            w.state,
            w.attempt,
            format(
                'it was %s for longer than %s s',
                CASE w.state WHEN STATE_READY THEN 'ready' ELSE 'blocked' END,
                trim_scale(w.limit_s::numeric)
            ) AS message
        FROM (
            SELECT
                j.*,
                m.monitor ->> CASE j.state WHEN STATE_READY THEN 'ready_s' ELSE 'blocked_s' END AS limit_s
            FROM weft.job j
            CROSS JOIN LATERAL (
                SELECT weft._monitor_of(j.tenant_id, j.lane_id, j.lifecycle_id) AS monitor OFFSET 0
            ) m
            WHERE j.batch_id = of_batch_id
                AND j.job_id > after_job
                AND j.job_id <= last_job
                AND j.state IN (STATE_READY, STATE_BLOCKED)
                AND m.monitor IS NOT NULL
        ) w
        WHERE w.limit_s IS NOT NULL
            AND interval '1 s' * w.limit_s::float8 <= _end_overdue.at - CASE w.state
                WHEN STATE_BLOCKED
                    THEN (
                        SELECT k.blocked_at
                        FROM weft.blocked_job k
                        WHERE k.batch_id = w.batch_id
                            AND k.job_id = w.job_id
                            AND NOT EXISTS (
                                SELECT
                                FROM weft.attempt_stop s
                                WHERE (s.batch_id, s.job_id, s.attempt) = (w.batch_id, w.job_id, w.attempt)
                            )
                    )
                ELSE greatest(
                    v_batch.released_at,
                    (
                        SELECT coalesce(w.ready_at, u.committed_at)
                        FROM weft.batch_update u
                        WHERE u.batch_id = w.batch_id
                            AND u.update_id = w.update_id
                            AND u.committed_at IS NOT NULL
                    ),
                    (
                        SELECT max(a.ended_at)
                        FROM weft.attempt a
                        WHERE a.batch_id = w.batch_id AND a.job_id = w.job_id
                    ),
                    (
                        SELECT max(c.at)
                        FROM weft.job_change c
                        WHERE c.batch_id = w.batch_id
                            AND c.job_id = w.job_id
                            AND (c.from_state = STATE_BLOCKED OR c.subtype IN ('released', 'retried'))
                    ),
                    (
                        SELECT max(g.opens_at)
                        FROM weft.gate_member x
                        JOIN weft.gate g
                        USING (gate_id)
                        WHERE x.gate_set_id IN (v_batch.gate_set_id, w.gate_set_id)
                    )
                )
            END
            AND NOT (w.state = STATE_READY AND weft._is_closed(w.batch_id, w.group_id, w.job_id))
        ORDER BY w.job_id
    ) d
    CROSS JOIN LATERAL (
        SELECT j.job_id, j.state, j.attempt
        FROM weft.job j
        WHERE j.batch_id = of_batch_id AND j.job_id = d.job_id
        FOR UPDATE SKIP LOCKED
        OFFSET 0
    ) l
    WHERE l.state = d.state AND l.attempt = d.attempt;
    IF v_job IS NULL THEN
        RETURN;
    END IF;
    PERFORM weft._count_errors(of_batch_id, v_job, _end_overdue.at);
    FOR v_set IN
        SELECT t.why, array_agg(t.j ORDER BY t.j) AS jobs FROM unnest(v_job, v_why) t (j, why) GROUP BY t.why
    LOOP
        PERFORM weft._end_waiting_as_errors(of_batch_id, v_set.jobs, _end_overdue.at, 'overdue', v_set.why);
        n_jobs := cardinality(v_set.jobs);
        message := v_set.why;
        RETURN NEXT;
    END LOOP;
    PERFORM weft._announce();
END $$;
