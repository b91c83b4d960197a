-- _why_facts: what keeps jobs of a batch from running, or what became of them; weft.core.why turns it into
--   sentences.
-- Plan: everything by key; of a job's parents at most the first 1000; pools as _pool_facts, once for each
--   need; conditions as _condition_document, each once.
-- Returns: one row per job; objects whose fields only matter in some states are NULL in others.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._why_facts(
    of_batch_id bigint, of_job_ids int[], at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (job_id int, facts jsonb) LANGUAGE sql STABLE AS $$
    WITH one AS MATERIALIZED (
        SELECT
            j.*,
            s.word,
            b.user_id,
            b.gate_set_id AS batch_set,
            coalesce(h.countables ->> 'queue', q.name) AS queue,
            weft._lane_pool(j.lane_id, q.pool_id) AS pool_id,
            j.state < STATE_SUCCESS AND j.state <> STATE_RUNNING AS waits
        FROM unnest(of_job_ids) t
        CROSS JOIN LATERAL (
            SELECT x.* FROM weft.job x WHERE x.batch_id = of_batch_id AND x.job_id = t OFFSET 0
        ) j
        CROSS JOIN LATERAL (
            SELECT x.user_id, x.queue_id, x.gate_set_id
            FROM weft.batch x
            WHERE x.batch_id = j.batch_id
            OFFSET 0
        ) b
        CROSS JOIN LATERAL (SELECT x.name, x.pool_id FROM weft.queue x WHERE x.queue_id = b.queue_id OFFSET 0)
            q
        JOIN weft.job_state s ON s.state = j.state
        JOIN weft.shape h ON h.shape_id = j.shape_id
    ),
    need AS MATERIALIZED (
        SELECT n.*, weft._pool_facts(n.pool_id, n.lane_id, n.cpu_m, n.memory_mib, n.user_id) AS pool
        FROM (SELECT DISTINCT o.pool_id, o.lane_id, o.cpu_m, o.memory_mib, o.user_id FROM one o WHERE o.waits)
            n
    ),
    blocked AS MATERIALIZED (
        SELECT k.*
        FROM one o
        CROSS JOIN LATERAL (
            SELECT x.* FROM weft.blocked_job x WHERE x.batch_id = o.batch_id AND x.job_id = o.job_id OFFSET 0
        ) k
        WHERE o.waits
    ),
    condition AS MATERIALIZED (
        SELECT c.condition_id, weft._condition_document(c) AS document
        FROM (SELECT DISTINCT x.condition_id FROM blocked x) b
        CROSS JOIN LATERAL (SELECT x.* FROM weft.condition x WHERE x.condition_id = b.condition_id OFFSET 0) c
    )
    SELECT
        o.job_id,
        jsonb_build_object(
            'batch_id', o.batch_id, 'job_id', o.job_id, 'state', o.word, 'queue', o.queue, 'user', u.name,
            'cpu', o.cpu_m / 1000.0,
            'memory', o.memory_mib * 1048576::bigint,
            'asks', coalesce(
                (
                    SELECT l.asks - '{queue,pool,preemptible,timeout_s,transport}'::text[]
                    FROM weft.lane l
                    WHERE l.lane_id = o.lane_id
                ),
                '{}'
            ),
            'held', weft._holds_of(o.batch_id, o.group_id, o.job_id),
            'limit', weft._limit_of(o.batch_id, o.group_id, o.job_id),
            'n_parents', o.n_unfinished - coalesce(jsonb_array_length(z.shares), 0),
            'shares', coalesce(z.shares, '[]'),
            'parents', (
                SELECT coalesce(
                    jsonb_agg(jsonb_build_object('job_id', x.job_id, 'state', x.word, 'need', x.need)), '[]'
                )
                FROM (
                    SELECT p.job_id, s.word, coalesce(e.need, 0) AS need
                    FROM (
                        SELECT e.parent_id, e.need
                        FROM weft.edge e
                        WHERE e.batch_id = o.batch_id
                            AND e.child_id = o.job_id
                            AND e.need IS DISTINCT FROM NEED_TOLD
                            AND coalesce(e.need, 0) >= 0
                        ORDER BY e.parent_id
                        LIMIT 1000
                    ) e
                    CROSS JOIN LATERAL (
                        SELECT y.job_id, y.state
                        FROM weft.job y
                        WHERE y.batch_id = o.batch_id AND y.job_id = e.parent_id
                        OFFSET 0
                    ) p
                    JOIN weft.job_state s ON s.state = p.state
                    WHERE p.state < STATE_SUCCESS
                    ORDER BY p.state <> STATE_RUNNING, p.job_id
                    LIMIT 3
                ) x
            ),
            'gates', weft._closed_gates(
                o.batch_id, o.job_id, ARRAY[o.batch_set, o.gate_set_id], _why_facts.at
            ),
            'preempts', weft._preempted_for(o.batch_id, o.job_id, o.attempt),
            'pool', n.pool,
            'kept', weft._kept_worker(o.batch_id, o.job_id),
            'messages', CASE WHEN o.waits THEN '[]' ELSE weft._open_messages(o.batch_id, o.job_id) END,
            'silent_since', h.silent,
            'reconnects_since', h.reconnects,
            'travels', CASE WHEN o.waits THEN weft._travels(o.batch_id, o.job_id, o.lane_id, o.pool_id) END,
            'machine', CASE WHEN o.state = STATE_CREATING THEN weft._own_machine(o.batch_id, o.job_id) END,
            'stays', o.n_lost > 0
                AND EXISTS (
                    SELECT
                    FROM weft.job_change c
                    WHERE c.batch_id = o.batch_id AND c.job_id = o.job_id AND c.subtype = 'spot'
                ),
            'more', (
                SELECT c.message
                FROM weft.job_change c
                WHERE o.retry_on & 2097152 <> 0
                    AND o.waits
                    AND c.batch_id = o.batch_id
                    AND c.job_id = o.job_id
                    AND c.subtype = 'more'
                ORDER BY c.change_id DESC
                LIMIT 1
            ),
            'blocked', (
                SELECT coalesce(
                    (
                        SELECT jsonb_build_object(
                            'reason', r.word,
                            'exit_code', a.exit_code,
                            'signal', a.signal,
                            'message', right(a.message, 1000)
                        )
                        FROM weft.attempt a
                        JOIN weft.attempt_reason r
                        USING (reason)
                        WHERE a.batch_id = o.batch_id AND a.job_id = o.job_id AND a.attempt = o.attempt
                    ),
                    '{}'
                ) || jsonb_build_object(
                    'attempt', o.attempt,
                    'next_at', k.next_at,
                    'service', EXISTS (
                        SELECT
                        FROM weft.job_label l
                        WHERE l.batch_id = o.batch_id AND l.job_id = o.job_id AND l.rare_fields ? 'service'
                    ),
                    'condition', (SELECT c.document FROM condition c WHERE c.condition_id = k.condition_id),
                    'stops_on', (
                        SELECT w.name
                        FROM weft.attempt_stop s
                        JOIN weft.worker_incarnation i
                        USING (incarnation_id)
                        JOIN weft.worker w
                        USING (worker_id)
                        WHERE (s.batch_id, s.job_id, s.attempt) = (o.batch_id, o.job_id, o.attempt)
                    )
                )
                FROM blocked k
                WHERE k.job_id = o.job_id
            )
        )
    FROM one o
    CROSS JOIN LATERAL (SELECT x.name FROM weft.tenant_user x WHERE x.user_id = o.user_id OFFSET 0) u
    LEFT JOIN LATERAL weft._unheard_since(o.incarnation_id) h ON o.state = STATE_RUNNING
    LEFT JOIN LATERAL (
        SELECT jsonb_agg(
            jsonb_build_object(
                'share', -s.need,
                'of', coalesce(
                    (
                        SELECT a.name
                        FROM weft.job_array a
                        WHERE a.batch_id = s.batch_id
                            AND a.first_job <= s.first_parent
                            AND s.last_parent < a.first_job + a.n_jobs
                        ORDER BY a.first_job DESC
                        LIMIT 1
                    ),
                    format('j%s to j%s', s.first_parent, s.last_parent)
                ),
                'n_jobs', s.n_jobs,
                'n_needed', s.n_needed,
                'n_succeeded', s.n_succeeded,
                'n_failed', s.n_failed
            ) ORDER BY s.first_parent
        ) AS shares
        FROM weft.parent_share s
        WHERE s.batch_id = o.batch_id
            AND s.child_id = o.job_id
            AND s.n_succeeded < s.n_needed
            AND s.n_failed <= s.n_jobs - s.n_needed
    ) z ON o.state = STATE_PENDING
    LEFT JOIN need n ON o.waits
        AND (n.pool_id, n.lane_id, n.cpu_m, n.memory_mib) = (o.pool_id, o.lane_id, o.cpu_m, o.memory_mib)
$$;
