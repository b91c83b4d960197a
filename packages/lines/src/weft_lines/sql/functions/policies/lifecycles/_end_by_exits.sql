-- _end_by_exits: what exit codes mean by the lifecycles of jobs: a success, an end after which the job waits
--   and is tried again, or, after as many of them as the rule allows, a failure. Ends are counted over all
--   phases, since a person last retried the job.
-- Plan: jobs, rules and attempts by key.
-- For: _before_ends, if there are such rules.
-- reported: the reasons before policies judged them, which these rules override.
-- Returns: the reasons, and whether no other attempt may follow, in order.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._end_by_exits(
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    reported smallint[],
    exit_codes int[],
    judged smallint[],
    judged_finals boolean[],
    OUT reasons smallint[],
    OUT finals boolean[]
) LANGUAGE sql STABLE AS $$
    SELECT
        array_agg(
            CASE
                WHEN e.tries IS NULL THEN t.judged
                WHEN e.status IS NULL THEN NULL
                WHEN e.again THEN REASON_BLOCKED
                ELSE REASON_EXIT
            END::smallint ORDER BY t.n
        ),
        array_agg(CASE WHEN e.tries IS NULL THEN t.final ELSE NOT e.again END ORDER BY t.n)
    FROM unnest(batch_ids, job_ids, attempts, reported, exit_codes, judged, judged_finals)
        WITH ORDINALITY t (b, j, a, reason, code, judged, final, n)
    LEFT JOIN LATERAL (
        SELECT
            x.status,
            x.tries,
            x.tries > 1 + (
                SELECT count(*)
                FROM weft.attempt y
                WHERE y.batch_id = t.b
                    AND y.job_id = t.j
                    AND y.attempt < t.a
                    AND y.exit_code BETWEEN x.first_code AND x.last_code
                    AND y.attempt > coalesce(
                        (
                            SELECT max(c.attempt)
                            FROM weft.job_change c
                            WHERE c.batch_id = t.b AND c.job_id = t.j AND c.subtype = 'retried'
                        ),
                        0
                    )
            ) AS again
        FROM weft.job j
        JOIN weft.lifecycle_exit x ON x.lifecycle_id = j.lifecycle_id
            AND t.code BETWEEN x.first_code AND x.last_code
        WHERE j.batch_id = t.b AND j.job_id = t.j AND t.reason = REASON_EXIT
        OFFSET 0
    ) e ON true
$$;
