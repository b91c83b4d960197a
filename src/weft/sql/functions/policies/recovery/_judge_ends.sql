-- _judge_ends: what exits mean: 75 (EX_TEMPFAIL) and the job's own codes are external errors, after which the
--   job waits; others are successes by its rules (a reason NULL). Where a policy gives up, or the job has
--   rules (bit 20 of retry_on) that say so, the end is final; so is a stop by the monitor that says so.
-- For: _before_ends, only for sets in which a job failed.
-- Plan: jobs by key, those that failed; as _rare_field, where the job has rules; as _next_wait, where it
--   waits before it is tried again.
-- Returns: the reasons, and whether no other attempt may follow, in order.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._judge_ends(
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    reported smallint[],
    exit_codes int[],
    signals smallint[],
    at timestamptz,
    OUT reasons smallint[],
    OUT finals boolean[]
) LANGUAGE sql STABLE AS $$
    SELECT
        array_agg(nullif(coalesce(w.reason, t.reason), 0) ORDER BY t.n),
        array_agg(
            CASE
                WHEN t.reason = REASON_OVERDUE
                    THEN EXISTS (
                        SELECT
                        FROM weft.attempt_stop s
                        WHERE s.batch_id = t.b AND s.job_id = t.j AND s.attempt = t.a AND s.final
                    )
                ELSE w.is_final
            END ORDER BY t.n
        )
    FROM (
        SELECT
            x.b,
            x.j,
            x.a,
            x.n,
            x.exit_code,
            x.signal,
            CASE
                WHEN x.reason = REASON_EXIT AND x.exit_code = 75 THEN REASON_BLOCKED
                ELSE x.reason
            END::smallint AS reason
        FROM unnest(batch_ids, job_ids, attempts, reported, exit_codes, signals)
            WITH ORDINALITY x (b, j, a, reason, exit_code, signal, n)
    ) t
    LEFT JOIN LATERAL (
        SELECT
            e.reason,
            e.is_final
                OR (e.reason = REASON_BLOCKED OR j.retry_on & 1 = 1)
                    AND weft._next_wait(
                        j.batch_id,
                        j.job_id,
                        j.spec_first,
                        j.attempt,
                        e.reason,
                        j.attempt - j.n_uncounted,
                        _judge_ends.at
                    ) IS NULL AS is_final
        FROM weft.job j
        CROSS JOIN LATERAL (
            SELECT t.reason, false AS is_final
            WHERE j.retry_on & 1048576 = 0
            UNION ALL
            SELECT r.reason, r.is_final
            FROM weft._end_by_rules(
                weft._rare_field(j.batch_id, j.job_id, j.spec_first, 'end_rules'),
                t.reason,
                t.exit_code,
                t.signal
            ) r
            WHERE j.retry_on & 1048576 <> 0
        ) e
        WHERE j.batch_id = t.b
            AND j.job_id = t.j
            AND (
                t.reason = REASON_BLOCKED
                    OR t.reason NOT IN (REASON_CANCELLED, REASON_LOST, REASON_PREEMPTED, REASON_OVERDUE)
                        AND j.retry_on & 1048577 <> 0
            )
        OFFSET 0
    ) w ON true
$$;
