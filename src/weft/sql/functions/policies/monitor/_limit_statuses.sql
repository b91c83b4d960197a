-- _limit_statuses: lead those of these jobs of a batch that wait, and have had their status for longer than
--   their lifecycle allows, along its path; after as many rounds as it allows they end as errors. Those that
--   run are watched by their phases (_at_heartbeat). Rounds count since a person last set the status.
-- Safe to repeat: yes.
-- Locks: job (SKIP LOCKED, in key order); as _add_status_rows; as _count_errors; as _end_waiting_as_errors;
--   as _announce.
-- Plan: nothing if the batch has no lifecycle with limits; jobs and their statuses by key, and of each that
--   is late its history by key.
-- Returns: how many jobs it ended, by what is said of them.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._limit_statuses(
    of_batch_id bigint, after_job int, last_job int, at timestamptz
) RETURNS TABLE (n_jobs int, message text) LANGUAGE plpgsql AS $$
DECLARE
    v_one record;
    v_late int[] := '{}';
    v_why text;
BEGIN
    IF NOT EXISTS (
        SELECT
        FROM weft.batch b
        JOIN weft.lifecycle l ON l.lifecycle_id = b.lifecycle_id AND l.limits IS NOT NULL
        WHERE b.batch_id = of_batch_id AND NOT b.removing
    ) THEN
        RETURN;
    END IF;
    FOR v_one IN
        SELECT
            x.job,
            l.limits,
            format(
                'it was %s for longer than %s s',
                l.statuses[s.status],
                trim_scale((l.limits -> 'statuses' ->> s.status::text)::numeric)
            ) AS why
        FROM weft.job j
        JOIN weft.lifecycle l ON l.lifecycle_id = j.lifecycle_id AND l.limits IS NOT NULL
        JOIN weft.job_status s ON s.batch_id = j.batch_id AND s.job_id = j.job_id
        CROSS JOIN LATERAL (
            SELECT y AS job, y.state
            FROM weft.job y
            WHERE y.batch_id = j.batch_id AND y.job_id = j.job_id
            FOR UPDATE SKIP LOCKED
            OFFSET 0
        ) x
        WHERE j.batch_id = of_batch_id
            AND j.job_id > after_job
            AND j.job_id <= last_job
            AND j.state < STATE_SUCCESS
            AND j.state <> STATE_RUNNING
            AND x.state = j.state
            AND s.since + interval '1 s'
                * (l.limits -> 'statuses' ->> s.status::text)::float8 <= _limit_statuses.at
        ORDER BY j.job_id
    LOOP
        IF jsonb_array_length(v_one.limits #> '{on_limit,path}') > 0
            AND (v_one.limits #>> '{on_limit,rounds}')::int > (
                SELECT count(*)
                FROM weft.job_status_change c
                WHERE c.batch_id = of_batch_id
                    AND c.job_id = (v_one.job).job_id
                    AND c.actor = 'weft'
                    AND c.subtype = v_one.limits #>> '{on_limit,subtype}'
                    AND c.n > coalesce(
                        (
                            SELECT max(p.n)
                            FROM weft.job_status_change p
                            WHERE p.batch_id = c.batch_id
                                AND p.job_id = c.job_id
                                AND p.actor <> 'weft'
                                AND p.actor NOT LIKE 'worker %'
                        ),
                        0
                    )
            )
        THEN
            PERFORM weft._walk_path(
                v_one.job,
                ARRAY(SELECT jsonb_array_elements_text(v_one.limits #> '{on_limit,path}')),
                v_one.limits #>> '{on_limit,subtype}',
                v_one.why
            );
        ELSE
            v_late := v_late || (v_one.job).job_id;
            v_why := v_one.why;
        END IF;
    END LOOP;
    IF v_late <> '{}' THEN
        PERFORM weft._count_errors(of_batch_id, v_late, _limit_statuses.at);
        PERFORM weft._end_waiting_as_errors(of_batch_id, v_late, _limit_statuses.at, 'overdue', v_why);
        PERFORM weft._announce();
        n_jobs := cardinality(v_late);
        message := v_why;
        RETURN NEXT;
    END IF;
END $$;
