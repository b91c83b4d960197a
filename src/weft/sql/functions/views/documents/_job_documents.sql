-- _job_documents: the documents of jobs of one batch.
-- Plan: everything by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._job_documents(of_batch_id bigint, of_job_ids int[])
RETURNS TABLE (job_id int, document jsonb) LANGUAGE sql STABLE AS $$
    SELECT
        j.job_id,
        jsonb_build_object(
            'batch_id', j.batch_id,
            'job_id', j.job_id,
            'name', CASE WHEN l.job_id IS NULL THEN r.name ELSE l.name END,
            'index', r.first_index + j.job_id - r.first_job,
            'group_id', coalesce(m.group_id, j.group_id),
            'groups', coalesce(m.sets, '[]'),
            'state', s.word,
            'phase', j.phase,
            'reason', CASE
                WHEN e.is_change THEN (weft._error_change(j.batch_id, j.job_id)).reason
                ELSE a.reason
            END,
            'exit_code', a.exit_code,
            'signal', a.signal,
            'message', coalesce(
                CASE
                    WHEN e.is_change THEN (weft._error_change(j.batch_id, j.job_id)).message
                    ELSE a.message
                END,
                CASE
                    WHEN j.state = STATE_CANCELLED AND j.bad_parent AND a.attempt IS NULL
                        THEN weft._bad_parent(j.batch_id, j.job_id, true)
                    WHEN j.state = STATE_RUNNING THEN weft._note_of(j.batch_id, j.job_id, j.attempt, j.phase)
                END
            ),
            'attempt', j.attempt,
            'user', u.name,
            'queue', coalesce(h.countables ->> 'queue', q.name),
            'priority', j.priority,
            'always_run', j.always_run,
            'held', j.state < STATE_SUCCESS
                AND o.has_hold
                AND weft._is_held(j.batch_id, j.group_id, j.job_id),
            'cost', round(c.cost, 12),
            'duration_ms', weft._ms_between(
                coalesce(a.started_at, j.started_at), coalesce(a.ended_at, clock_timestamp())
            ),
            'ready_at', CASE
                WHEN j.state <> STATE_PENDING
                    AND (j.cancelled_at IS NULL OR j.n_unfinished = 0 AND NOT j.bad_parent)
                    THEN coalesce(j.ready_at, p.committed_at)
            END,
            'started_at', CASE WHEN j.state = STATE_RUNNING THEN j.started_at ELSE a.started_at END,
            'ended_at', CASE WHEN j.state >= STATE_SUCCESS THEN greatest(a.ended_at, j.cancelled_at) END,
            'attributes', coalesce(CASE WHEN l.job_id IS NULL THEN r.attributes ELSE l.attributes END, '{}')
        ) || coalesce(l.rare_fields, r.rare_fields, '{}')
            - '{gates,latest_start,queue,end_rules,more,app_revision}'::text[] || CASE
                WHEN a.state = STATE_SUCCESS AND a.exit_code <> 0
                    THEN jsonb_strip_nulls(
                        jsonb_build_object(
                            'subtype', weft._success_subtype(
                                coalesce(l.rare_fields, r.rare_fields) -> 'end_rules', a.exit_code
                            )
                        )
                    )
                ELSE '{}'
            END || CASE
                WHEN j.state = STATE_SUCCESS AND j.attempt = 0
                    THEN coalesce(
                        (
                            SELECT jsonb_build_object(
                                'outputs_of', format('b%s.j%s', c.from_batch, c.from_job)
                            )
                            FROM weft.job_cache c
                            WHERE c.batch_id = j.batch_id AND c.job_id = j.job_id AND c.from_batch IS NOT NULL
                        ),
                        '{}'
                    )
                ELSE '{}'
            END || coalesce(
                CASE
                    WHEN j.state = STATE_RUNNING
                        THEN weft._progress_of(j.batch_id, j.job_id, j.attempt, or_before => true)
                END,
                '{}'
            ) || CASE WHEN j.lifecycle_id IS NULL THEN '{}' ELSE weft._status_fields(j) END
    FROM (
        SELECT EXISTS (SELECT FROM weft.group_hold x WHERE x.batch_id = of_batch_id)
            OR EXISTS (SELECT FROM weft.job_hold x WHERE x.batch_id = of_batch_id) AS has_hold
    ) o
    CROSS JOIN unnest(of_job_ids) t
    CROSS JOIN LATERAL (SELECT x.* FROM weft.job x WHERE x.batch_id = of_batch_id AND x.job_id = t OFFSET 0) j
    CROSS JOIN LATERAL (SELECT x.user_id, x.queue_id FROM weft.batch x WHERE x.batch_id = j.batch_id OFFSET 0)
        b
    CROSS JOIN LATERAL (
        SELECT x.committed_at
        FROM weft.batch_update x
        WHERE x.batch_id = j.batch_id AND x.update_id = j.update_id
        OFFSET 0
    ) p
    JOIN weft.job_state s ON s.state = j.state
    CROSS JOIN LATERAL (SELECT x.name FROM weft.tenant_user x WHERE x.user_id = b.user_id OFFSET 0) u
    CROSS JOIN LATERAL (SELECT x.name FROM weft.queue x WHERE x.queue_id = b.queue_id OFFSET 0) q
    JOIN weft.shape h ON h.shape_id = j.shape_id
    LEFT JOIN LATERAL (
        SELECT
            x.group_id,
            (
                SELECT jsonb_agg(g.group_id ORDER BY g.group_id)
                FROM weft.job_group g
                WHERE g.batch_id = x.batch_id AND g.group_id = ANY (x.set_ids) AND NOT g.hidden
            ) AS sets
        FROM weft.membership x
        WHERE j.group_id < 0 AND x.batch_id = j.batch_id AND x.membership_id = j.group_id
    ) m ON true
    LEFT JOIN weft.job_label l ON l.batch_id = j.batch_id AND l.job_id = j.job_id
    LEFT JOIN weft.job_array r ON r.batch_id = j.batch_id AND r.first_job = j.spec_first
    LEFT JOIN weft.attempt a ON a.batch_id = j.batch_id
        AND a.job_id = j.job_id
        AND a.attempt = j.attempt
        AND j.state <> STATE_RUNNING
        AND NOT (
            a.state = STATE_READY AND a.reason = REASON_PREEMPTED AND a.started_at IS NULL
        )  -- given back: it says nothing
    CROSS JOIN LATERAL (SELECT j.state = STATE_ERROR AND a.state IS DISTINCT FROM STATE_ERROR AS is_change) e
    CROSS JOIN LATERAL (
        SELECT coalesce(sum(x.ms * v.quantity * r.price_per_unit_hour), 0) / 3600000 AS cost
        FROM (
            SELECT e.rate_card_id, e.shape_id, weft._ms_between(e.started_at, e.ended_at) AS ms
            FROM weft.attempt e
            WHERE e.batch_id = j.batch_id AND e.job_id = j.job_id AND e.started_at IS NOT NULL
            UNION ALL
            SELECT j.rate_card_id, j.shape_id, weft._ms_between(j.started_at, clock_timestamp())
            WHERE j.state = STATE_RUNNING AND j.started_at IS NOT NULL
        ) x
        CROSS JOIN LATERAL (SELECT y.* FROM weft.shape y WHERE y.shape_id = x.shape_id OFFSET 0) s
        CROSS JOIN LATERAL (
            VALUES
                (1::smallint, s.cpu_m),
                (2::smallint, s.memory_mib),
                (3::smallint, s.storage_mib),
                (4::smallint, s.gpu::bigint)
        ) v (resource_id, quantity)
        JOIN weft.rate r ON r.rate_card_id = x.rate_card_id AND r.resource_id = v.resource_id
    ) c
$$;
