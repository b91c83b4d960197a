-- get_job: the document of one job with its first parents, its times, who has the key that it waits for, and
--   the chunk that holds its spec.
-- Safe to repeat: yes, it only reads.
-- Raises WF101, WF102.
-- Plan: by key; of parents one more than is shown or counted.
-- The first parents, at most limit_parents, and how many there are; NULL: more than limit_counted.
-- limit_ms: the time limit of its attempt, or of the next one, if a rule of `retry_with` is about that.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_job(
    tenant_id int, batch_id bigint, job_id int, limit_parents int, limit_counted int
) RETURNS TABLE (document jsonb, spec_index int, spec_body bytea) LANGUAGE plpgsql PLAN_ONCE AS $$
BEGIN
    PERFORM weft._check_job(get_job.batch_id, get_job.job_id);
    RETURN QUERY
    SELECT
        d.document || jsonb_build_object(
            'resources', jsonb_build_object(
                'cpu', h.cpu_m / 1000.0,
                'memory', h.memory_mib * 1048576,
                'storage', h.storage_mib * 1048576,
                'gpu', h.gpu
            ),
            'max_attempts', j.max_attempts,
            'times', (
                -- The time axis: waiting until claimed (leases that came to nothing included), starting,
                -- running.
                SELECT jsonb_build_object(
                    'waiting_ms', greatest(
                        coalesce(
                            weft._ms_between(
                                coalesce(
                                    CASE WHEN j.state <> STATE_PENDING THEN j.ready_at END, u.committed_at
                                ),
                                coalesce(max(a.ended_at), j.cancelled_at, clock_timestamp())
                            ),
                            0
                        ) - coalesce(
                            sum(weft._ms_between(a.claimed_at, coalesce(a.ended_at, clock_timestamp())))
                                FILTER (WHERE a.started_at IS NOT NULL),
                            0
                        ) - coalesce(
                            sum(weft._ms_between(a.ended_at, k.until))
                                FILTER (WHERE a.to_state = STATE_BLOCKED),
                            0
                        ),
                        0
                    ),
                    'staging_ms', coalesce(sum(f.staging_ms), 0),
                    'starting_ms', coalesce(
                        sum(
                            greatest(
                                weft._ms_between(a.claimed_at, a.started_at) - coalesce(f.staging_ms, 0), 0
                            )
                        ),
                        0
                    ),
                    'running_ms', coalesce(
                        sum(
                            greatest(
                                weft._ms_between(a.started_at, coalesce(a.ended_at, clock_timestamp()))
                                    - coalesce(f.storing_ms, 0),
                                0
                            )
                        ),
                        0
                    ),
                    'storing_ms', coalesce(sum(f.storing_ms), 0),
                    'blocked_ms', coalesce(
                        sum(weft._ms_between(a.ended_at, k.until)) FILTER (WHERE a.to_state = STATE_BLOCKED),
                        0
                    )
                )
                FROM weft._attempts(get_job.batch_id, get_job.job_id) a
                LEFT JOIN weft.attempt_staging f ON f.batch_id = get_job.batch_id
                    AND f.job_id = get_job.job_id
                    AND f.attempt = a.attempt
                CROSS JOIN LATERAL (
                    SELECT coalesce(
                        (
                            SELECT min(c.at)
                            FROM weft.job_change c
                            WHERE c.batch_id = get_job.batch_id
                                AND c.job_id = get_job.job_id
                                AND c.attempt = a.attempt
                                AND c.from_state = STATE_BLOCKED
                        ),
                        j.cancelled_at,
                        clock_timestamp()
                    ) AS until
                ) k
            )
        ) || (
            SELECT jsonb_build_object(
                'parents', to_jsonb(coalesce(x.ids[:limit_parents], '{}')),
                'n_parents', CASE
                    WHEN coalesce(cardinality(x.ids), 0) <= limit_counted THEN coalesce(cardinality(x.ids), 0)
                END
            ) || jsonb_strip_nulls(
                (
                    SELECT jsonb_build_object(
                        'end_parents', jsonb_agg(e.parent_id ORDER BY e.parent_id)
                            FILTER (WHERE e.need = NEED_END),
                        'start_parents', jsonb_agg(e.parent_id ORDER BY e.parent_id)
                            FILTER (WHERE e.need >= NEED_START),
                        'share_parents', (
                            SELECT jsonb_object_agg(-y.need || '%', y.ids)
                            FROM (
                                SELECT s.need, jsonb_agg(s.parent_id ORDER BY s.parent_id) AS ids
                                FROM weft.edge s
                                WHERE s.need < 0
                                    AND s.batch_id = get_job.batch_id
                                    AND s.child_id = get_job.job_id
                                    AND s.parent_id = ANY (x.ids[:limit_parents])
                                GROUP BY 1
                            ) y
                        )
                    )
                    FROM weft.edge e
                    WHERE e.need IS NOT NULL
                        AND e.batch_id = get_job.batch_id
                        AND e.child_id = get_job.job_id
                        AND e.parent_id = ANY (x.ids[:limit_parents])
                )
            )
            FROM (
                SELECT ARRAY(
                    SELECT e.parent_id
                    FROM weft.edge e
                    WHERE e.batch_id = get_job.batch_id AND e.child_id = get_job.job_id
                    ORDER BY e.parent_id
                    LIMIT greatest(limit_parents::bigint, limit_counted::bigint + 1)
                ) AS ids
                OFFSET 0
            ) x
        ) || coalesce(
            weft._progress_of(j.batch_id, j.job_id, j.attempt, or_before => j.state < STATE_SUCCESS), '{}'
        ) || coalesce(
            (
                SELECT jsonb_build_object('notes', jsonb_agg(n.title ORDER BY n.told_at DESC, n.title))
                FROM weft.job_note n
                WHERE n.batch_id = j.batch_id AND n.job_id = j.job_id
                HAVING count(*) > 0
            ),
            '{}'
        ) || coalesce(
            (
                SELECT jsonb_build_object('next_try_at', b.next_at)
                FROM weft.blocked_job b
                WHERE b.batch_id = get_job.batch_id AND b.job_id = get_job.job_id
            ),
            '{}'
        ) || coalesce(
            CASE
                WHEN j.state = STATE_READY
                    THEN weft._key_holders(
                        get_job.tenant_id,
                        d.document -> 'concurrency_key' ->> 'key',
                        get_job.batch_id,
                        get_job.job_id
                    )
            END,
            '{}'
        ) || coalesce(
            (
                SELECT jsonb_build_object(
                    'limit_ms', weft._more_time(
                        r.rules,
                        weft._more_steps(
                            r.rules,
                            j.batch_id,
                            j.job_id,
                            j.attempt - CASE
                                WHEN j.state = STATE_RUNNING OR j.state >= STATE_SUCCESS THEN 1
                                ELSE 0
                            END
                        )
                    )
                )
                FROM (
                    SELECT weft._rare_field(j.batch_id, j.job_id, j.spec_first, 'more') AS rules
                    WHERE j.retry_on & 2097152 <> 0
                ) r
            ),
            '{}'
        ),
        get_job.job_id - j.spec_first,
        p.body
    FROM weft._job_documents(get_job.batch_id, ARRAY[get_job.job_id]) d
    JOIN weft.job j ON j.batch_id = get_job.batch_id AND j.job_id = get_job.job_id
    JOIN weft.batch_update u ON u.batch_id = j.batch_id AND u.update_id = j.update_id
    JOIN weft.shape h ON h.shape_id = j.shape_id
    LEFT JOIN weft.job_spec p ON p.batch_id = j.batch_id AND p.first_job = j.spec_first;
END $$;
