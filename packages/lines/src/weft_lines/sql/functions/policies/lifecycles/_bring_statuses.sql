-- _bring_statuses: after moves of the core, bring the status that belongs to each new state or phase by the
--   shortest allowed way.
-- Safe to repeat: yes.
-- Locks: job (by the moves); job_status (with the jobs); as _walk_path (the same rows).
-- Plan: by key.
-- weft.moves: those noted since the last call, five numbers each.
-- weft.since: the date of a phase, which `record_phases` sets.
-- After an end that is tried again, the status is that of the rule for its exit code; after a limit or a
--   loss, the end of the path for it.
-- Where the lifecycle names nothing, nothing changes; where no allowed way leads there, the status stays and
--   a row says so.
-- What an error brings says why; of a loss, too, that its attempt is dated at the last heartbeat.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._bring_statuses() RETURNS void LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_moves bigint[] := ('{' || current_setting('weft.moves') || '}')::bigint[];
    v_walks jsonb;
    v_since timestamptz := nullif(current_setting('weft.since', true), '')::timestamptz;
BEGIN
    PERFORM set_config('weft.moves', '', true);
    WITH worker AS (
        SELECT c.incarnation_id, 'worker ' || w.name AS name
        FROM weft.worker_incarnation c
        JOIN weft.worker w
        USING (worker_id)
        WHERE c.incarnation_id = ANY (
            ARRAY(SELECT DISTINCT v_moves[i]::int FROM generate_series(5, cardinality(v_moves), 5) i)
        )
    ),
    move AS (
        SELECT
            s.ctid AS tid,
            j.batch_id, j.job_id, j.tenant_id, j.state, j.attempt, s.n, s.since, p.path, p.walks,
            a.started_at,
            coalesce(w.name, 'weft') AS actor,
            coalesce(f.way, '{}') AS first,
            b.way IS NULL AS forbidden,
            CASE WHEN b.status IS NULL OR p.walks THEN '{}' ELSE coalesce(b.way, ARRAY[b.status]) END AS way,
            CASE WHEN b.way IS NULL THEN 'not allowed' ELSE coalesce(a.subtype, p.path ->> 'subtype') END AS
                subtype,
            CASE
                WHEN j.state = STATE_ERROR AND o.state <> STATE_RUNNING
                    THEN (
                        SELECT left(h.message, 1024)
                        FROM weft.job_change h
                        WHERE h.batch_id = j.batch_id AND h.job_id = j.job_id AND h.to_state = STATE_ERROR
                        ORDER BY h.change_id DESC
                        LIMIT 1
                    )
                WHEN a.reason <> REASON_CANCELLED
                    THEN left(
                        concat_ws(
                            '; ',
                            coalesce(
                                nullif(a.message, ''),
                                'exit code ' || nullif(a.exit_code, 0),
                                'signal ' || a.signal,
                                (SELECT r.word FROM weft.attempt_reason r WHERE r.reason = a.reason)
                            ),
                            CASE
                                WHEN a.reason = REASON_LOST THEN 'the attempt is dated at its last heartbeat'
                            END
                        ),
                        1024
                    )
            END AS why,
            coalesce(
                CASE
                    WHEN j.state = STATE_RUNNING
                        THEN CASE j.phase
                            WHEN PHASE_ASSIGNED THEN j.claimed_at
                            WHEN PHASE_EXECUTING THEN j.started_at
                        END
                END,
                v_since,
                clock_timestamp()
            ) AS at
        FROM generate_series(1, cardinality(v_moves), 5) i
        CROSS JOIN LATERAL (SELECT v_moves[i + 2] AS state, v_moves[i + 3] AS phase) o
        JOIN weft.job j ON j.batch_id = v_moves[i] AND j.job_id = v_moves[i + 1]::int
        JOIN weft.job_status s ON s.batch_id = j.batch_id AND s.job_id = j.job_id
        LEFT JOIN worker w ON w.incarnation_id = v_moves[i + 4] AND STATE_RUNNING IN (j.state, o.state)
        LEFT JOIN LATERAL (
            SELECT y.*, x.status, x.subtype, x.products
            FROM weft.attempt y
            LEFT JOIN weft.lifecycle_exit x ON x.lifecycle_id = j.lifecycle_id
                AND y.exit_code BETWEEN x.first_code AND x.last_code
            WHERE y.batch_id = j.batch_id
                AND y.job_id = j.job_id
                AND y.attempt = j.attempt
                AND o.state = STATE_RUNNING
                AND j.state <> STATE_RUNNING
            OFFSET 0
        ) a ON true
        -- A short attempt reports its start with its end: what its start would have brought comes first.
        CROSS JOIN LATERAL (
            SELECT CASE
                WHEN o.phase < PHASE_EXECUTING AND a.started_at IS NOT NULL
                    THEN (
                        SELECT m.way
                        FROM weft.lifecycle_move m
                        WHERE m.lifecycle_id = j.lifecycle_id
                            AND m.state = STATE_RUNNING
                            AND m.within = PHASE_EXECUTING
                            AND m.from_status = s.status
                            AND EXISTS (  -- which its state or an earlier phase brought
                                SELECT
                                FROM weft.lifecycle_move e
                                WHERE e.lifecycle_id = m.lifecycle_id
                                    AND e.state = STATE_RUNNING
                                    AND e.from_status = m.from_status
                                    AND e.within < PHASE_EXECUTING
                                    AND e.way = '{}'
                            )
                    )
            END AS way
            OFFSET 0
        ) f
        -- One that was stopped beyond a limit, or is lost, leads along the path for that.
        LEFT JOIN LATERAL (
            SELECT
                t.path,
                j.state IN (STATE_READY, STATE_BLOCKED) AND jsonb_array_length(t.path -> 'path') > 0 AS walks
            FROM (
                SELECT l.limits -> CASE
                    WHEN a.reason = REASON_LOST OR a.message LIKE 'its worker has not named it for%'
                        THEN 'lost'
                    ELSE 'on_limit'
                END AS path
                FROM weft.lifecycle l
                WHERE l.lifecycle_id = j.lifecycle_id AND a.reason IN (REASON_OVERDUE, REASON_LOST)
                OFFSET 0
            ) t
        ) p ON true
        LEFT JOIN LATERAL (
            SELECT m.way, m.from_status AS status
            FROM weft.lifecycle_move m
            WHERE m.lifecycle_id = j.lifecycle_id
                AND m.state = j.state
                AND m.from_status = coalesce(f.way[cardinality(f.way)], s.status)
                AND (
                    m.within = 0 AND j.state <> o.state
                        OR m.within = j.phase AND j.state = STATE_RUNNING
                        OR m.within = -a.status AND j.state = STATE_BLOCKED
                        OR m.within = 20
                            AND j.state = STATE_SUCCESS
                            AND coalesce(a.products, true)
                            AND EXISTS (  -- its message leads it on
                                SELECT
                                FROM weft.batch t
                                JOIN weft.sink k ON k.sink_id = ANY (t.sink_id || t.more_sinks)
                                WHERE t.batch_id = j.batch_id
                                    AND (
                                        CASE
                                            WHEN k.document ->> 'products' = 'true'
                                                THEN EXISTS (
                                                    SELECT
                                                    FROM weft.product d
                                                    WHERE d.batch_id = j.batch_id
                                                        AND d.job_id = j.job_id
                                                        AND d.attempt = j.attempt
                                                )
                                            ELSE k.document ->> 'each' IS NULL
                                                OR EXISTS (
                                                    SELECT
                                                    FROM weft.job_file d
                                                    WHERE d.batch_id = j.batch_id
                                                        AND d.job_id = j.job_id
                                                        AND d.attempt = j.attempt
                                                        AND d.message IS NOT NULL
                                                )
                                        END
                                    )
                            )
                )
            ORDER BY m.within = 0, m.within DESC
            LIMIT 1
        ) b ON true
    ),
    moved AS (  -- never before the last row, also if the clock was set back
        UPDATE weft.job_status s
        SET
            status = coalesce(t.way[cardinality(t.way)], t.first[n_first]),
            n = s.n + n_first + cardinality(t.way),
            since = greatest(
                CASE WHEN t.way <> '{}' THEN t.at END,
                first_at + cardinality(t.way) * interval '1 microsecond'
            )
        FROM (
            SELECT
                m.*,
                cardinality(m.first) AS n_first,
                greatest(
                    CASE WHEN m.first <> '{}' THEN m.started_at END,
                    m.since + cardinality(m.first) * interval '1 microsecond'
                ) AS first_at
            FROM move m
        ) t
        WHERE s.ctid = t.tid AND t.first || t.way <> '{}'
        RETURNING s.since AS last_at, s.n AS last_n, t.*
    ),
    ins AS (
        INSERT INTO weft.job_status_change (
            batch_id, job_id, n, tenant_id, at, status, state, forbidden, attempt, actor, subtype, message
        )
        SELECT
            t.batch_id, t.job_id, t.n + u.k, t.tenant_id,
            CASE
                WHEN u.k > n_first THEN last_at + (t.n + u.k - last_n) * interval '1 microsecond'
                ELSE first_at + (u.k - n_first) * interval '1 microsecond'
            END,
            u.status, t.state, u.k > n_first AND t.forbidden, nullif(t.attempt, 0), t.actor,
            CASE WHEN t.n + u.k = last_n AND t.way <> '{}' THEN t.subtype END,
            CASE
                WHEN t.n + u.k = last_n AND t.way <> '{}'
                    THEN nullif(
                        left(
                            concat_ws(
                                '; ',
                                CASE
                                    WHEN t.forbidden
                                        THEN (
                                            SELECT format(
                                                'the job is %s, and its lifecycle allows no status of that',
                                                z.word
                                            )
                                            FROM weft.job_state z
                                            WHERE z.state = t.state
                                        )
                                END,
                                t.why
                            ),
                            1024
                        ),
                        ''
                    )
            END
        FROM moved t, unnest(t.first || t.way) WITH ORDINALITY u (status, k)
    )
    SELECT jsonb_agg(to_jsonb(m))
    INTO v_walks
    FROM move m
    WHERE m.walks;
    IF v_walks IS NOT NULL THEN
        PERFORM weft._walk_path(
            j,
            ARRAY(
                SELECT p.word
                FROM jsonb_array_elements_text(t.path -> 'path') WITH ORDINALITY p (word, n)
                WHERE j.state = STATE_READY
                    OR NOT EXISTS (
                        SELECT
                        FROM weft.lifecycle l
                        JOIN weft.lifecycle_core c ON c.lifecycle_id = l.lifecycle_id
                            AND c.state = STATE_READY
                        WHERE l.lifecycle_id = j.lifecycle_id
                            AND c.status = array_position(l.statuses, p.word)
                    )
                ORDER BY p.n
            ),
            t.path ->> 'subtype',
            t.why
        )
        FROM jsonb_to_recordset(v_walks) t (batch_id bigint, job_id int, path jsonb, why text)
        JOIN weft.job j
        USING (batch_id, job_id);
    END IF;
END $$;
