-- _verdicts_on_ends: one verdict per report, in order, where not all were recorded just now: ok for those
--   that were, and for repeats.
-- recorded: the numbers of the reports that were recorded.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._verdicts_on_ends(
    of_incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    reasons smallint[],
    recorded bigint[]
) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(
        array_agg(
            CASE
                WHEN t.n = ANY (recorded)
                    OR EXISTS (
                        SELECT
                        FROM weft.attempt a
                        WHERE a.batch_id = t.batch_id
                            AND a.job_id = t.job_id
                            AND a.attempt = t.attempt
                            AND a.incarnation_id = of_incarnation_id
                            AND a.reason IS NOT DISTINCT FROM t.reason
                    )
                    THEN 'ok'
                ELSE 'stale'
            END ORDER BY t.n
        ),
        '{}'
    )
    FROM unnest(batch_ids, job_ids, attempts, reasons)
        WITH ORDINALITY AS t (batch_id, job_id, attempt, reason, n)
$$;
