-- _door_jobs: the first jobs of batches that came through a door, with all that the door's story of them is
--   made of; a batch without jobs is the record of one that another system has run, and has no state.
-- Plan: by key.
-- Returns: in the order of the numbers that were given.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._door_jobs(of_batch_ids bigint[]) RETURNS SETOF jsonb
LANGUAGE sql STABLE PLAN_BY_KEY PLAN_ONCE AS $$
    SELECT jsonb_build_object(
        'batch_id', b.batch_id, 'foreign_id', b.foreign_id, 'document', b.foreign_document, 'name', b.name,
        'owner', (SELECT u.name FROM weft.tenant_user u WHERE u.user_id = b.user_id),
        'tenant', (SELECT t.name FROM weft.tenant t WHERE t.tenant_id = b.tenant_id),
        'created_at', b.created_at,
        'hidden', b.hidden,
        'state', (SELECT s.word FROM weft.job_state s WHERE s.state = j.state),
        'cancelled_at', j.cancelled_at,
        'cancel', (
            SELECT jsonb_build_object('at', c.cancelled_at, 'actor', c.actor)
            FROM weft.group_cancel c
            WHERE c.batch_id = b.batch_id AND c.group_id = 0
        ),
        'attempts', coalesce(
            (
                SELECT jsonb_agg(
                    x.attempt || jsonb_build_object(
                        'archiving_at', (
                            SELECT n.at
                            FROM weft.attempt_note n
                            WHERE n.batch_id = t.id
                                AND n.job_id = 1
                                AND n.attempt = x.n
                                AND n.phase = PHASE_COLLECTING
                        )
                    ) ORDER BY x.n
                )
                FROM (
                    SELECT
                        a.attempt AS n,
                        jsonb_build_object(
                            'attempt', a.attempt, 'claimed_at', a.claimed_at, 'started_at', a.started_at,
                            'ended_at', a.ended_at,
                            'to', (SELECT s.word FROM weft.job_state s WHERE s.state = a.state),
                            'reason', (SELECT r.word FROM weft.attempt_reason r WHERE r.reason = a.reason),
                            'exit_code', a.exit_code, 'signal', a.signal, 'message', a.message,
                            'staging_ms', g.staging_ms, 'storing_ms', g.storing_ms
                        ) AS attempt
                    FROM weft.attempt a
                    LEFT JOIN weft.attempt_staging g
                    USING (batch_id, job_id, attempt)
                    WHERE a.batch_id = b.batch_id AND a.job_id = 1
                    UNION ALL
                    SELECT
                        j.attempt,
                        jsonb_build_object(
                            'attempt', j.attempt,
                            'claimed_at', j.claimed_at,
                            'started_at', j.started_at,
                            'worker', (
                                SELECT w.name
                                FROM weft.worker_incarnation i
                                JOIN weft.worker w ON w.worker_id = i.worker_id
                                WHERE i.incarnation_id = j.incarnation_id
                            )
                        )
                    WHERE j.state = STATE_RUNNING
                ) x
            ),
            '[]'
        ),
        'changes', coalesce(
            (
                SELECT jsonb_agg(
                    jsonb_build_object(
                        'at', c.at,
                        'actor', c.actor,
                        'kind', c.subtype,
                        'message', c.message,
                        'from', (SELECT s.word FROM weft.job_state s WHERE s.state = c.from_state),
                        'to', (SELECT s.word FROM weft.job_state s WHERE s.state = c.to_state)
                    ) ORDER BY c.change_id
                )
                FROM weft.job_change c
                WHERE c.batch_id = b.batch_id AND c.job_id = 1
            ),
            '[]'
        ) || coalesce(
            (
                SELECT jsonb_agg(
                    jsonb_build_object('at', c.at, 'actor', c.actor, 'kind', c.kind, 'message', c.message)
                        ORDER BY c.change_id
                )
                FROM weft.group_change c
                WHERE c.batch_id = b.batch_id AND c.group_id = 0
            ),
            '[]'
        )
    )
    FROM unnest(of_batch_ids) WITH ORDINALITY t (id, n)
    CROSS JOIN LATERAL (SELECT x.* FROM weft.batch x WHERE x.batch_id = t.id OFFSET 0) b
    LEFT JOIN LATERAL (SELECT x.* FROM weft.job x WHERE x.batch_id = t.id AND x.job_id = 1 OFFSET 0) j ON true
    ORDER BY t.n
$$;
