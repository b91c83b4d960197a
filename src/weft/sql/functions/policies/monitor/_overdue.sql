-- _overdue: those of these attempts that are beyond a limit of their queue, with the reason, what it has in
--   common with others, and whether no other attempt may follow.
-- Safe to repeat: yes.
-- For: _stop_attempts, which has locked them.
-- Locks: job (SKIP LOCKED, in key order).
-- Plan: jobs, their queues and attempts by key.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._overdue(due weft.attempt_watch[], at timestamptz) RETURNS TABLE (
    incarnation_id int,
    tenant_id int,
    batch_id bigint,
    job_id int,
    attempt smallint,
    why text,
    cause text,
    final boolean,
    age_us bigint
) LANGUAGE sql AS $$
    SELECT
        j.incarnation_id, j.tenant_id, j.batch_id, j.job_id, j.attempt,
        l.says || format(' %s s', trim_scale(l.limit_s::numeric)) || CASE
            WHEN NOT r.final THEN format('; stopped %s of %s times', r.n + 1, r.rounds)
            WHEN r.rounds > 0 AND r.n >= r.rounds THEN format('; was stopped %s times before', r.n)
            ELSE ''
        END,
        l.says || ' its limit',
        r.final,
        CASE
            WHEN j.started_at IS NOT NULL
                THEN (date_part('epoch', _overdue.at - j.started_at) * 1000000)::bigint
        END
    FROM (SELECT d.* FROM unnest(_overdue.due) d ORDER BY d.batch_id, d.job_id) w
    CROSS JOIN LATERAL (
        SELECT y.*
        FROM weft.job y
        WHERE y.batch_id = w.batch_id AND y.job_id = w.job_id
        FOR UPDATE SKIP LOCKED
        OFFSET 0
    ) j
    CROSS JOIN LATERAL (SELECT weft._monitor_of(j.tenant_id, j.lane_id, j.lifecycle_id) AS monitor OFFSET 0) m
    CROSS JOIN LATERAL (
        SELECT
            format('phase %s took longer than', weft._phase_word(w.phase)) AS says,
            m.monitor ->> (weft._phase_word(w.phase) || '_s') AS limit_s
        WHERE w.since + weft._phase_limit(m.monitor, w.phase) <= _overdue.at
        UNION ALL
        SELECT 'its worker has not named it for', m.monitor ->> 'silent_s'
        WHERE w.silent_since + interval '1 s' * (m.monitor ->> 'silent_s')::float8 <= _overdue.at
        LIMIT 1
    ) l
    CROSS JOIN LATERAL (
        SELECT n, rounds, m.monitor ->> 'action' = 'fail' OR n >= rounds AS final
        FROM (
            SELECT count(*) AS n, (m.monitor ->> 'rounds')::numeric::int AS rounds
            FROM weft.attempt a
            WHERE a.batch_id = j.batch_id
                AND a.job_id = j.job_id
                AND a.reason = REASON_OVERDUE
                AND a.attempt > coalesce(
                    (
                        SELECT max(c.attempt)
                        FROM weft.job_change c
                        WHERE c.batch_id = j.batch_id AND c.job_id = j.job_id AND c.subtype = 'retried'
                    ),
                    0
                )
        ) x
    ) r
    WHERE j.state = STATE_RUNNING
        AND j.attempt = w.attempt
        AND j.incarnation_id = w.incarnation_id
        AND j.phase = w.phase
$$;
