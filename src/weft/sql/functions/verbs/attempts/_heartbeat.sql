-- _heartbeat: record that a worker lives; roll up the usage of its attempts; write its claims in a shorter
--   form.
-- Safe to repeat: yes.
-- For: heartbeat, with every attempt whose end is not recorded yet. `claiming`: a claim is under way, so the
--   list may lack its jobs. A lease of at least 5 s that is not listed comes from a claim whose reply was
--   lost: it is handed back. `heard`: claims whose replies have arrived since the last heartbeat.
-- Locks: incarnation (its row); as _at_heartbeat; job (in key order); as complete_attempts.
-- Plan: as _live_attempts.
-- Returns: whether the worker still counts as alive, whether there is work, and the attempts that must be
--   stopped.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._heartbeat(
    incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    draining boolean,
    claiming boolean DEFAULT false,
    heard bigint[] DEFAULT '{}',
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    alive boolean, has_work boolean, stop_batch_ids bigint[], stop_job_ids int[], stop_attempts smallint[]
) LANGUAGE plpgsql SECURITY DEFINER PLAN_BY_INDEX AS $$
DECLARE
    v_pool int;
    v_seen bigint[];
    v_batch bigint[];
    v_lane int[];
    v_job int[];
    v_attempt smallint[];
    v_n int;
    v_usage_changed boolean;
    v_linked boolean;
    v_zeros bigint[];
BEGIN
    UPDATE weft.worker_incarnation i
    SET heartbeat_at = _heartbeat.at, draining = _heartbeat.draining
    WHERE i.incarnation_id = _heartbeat.incarnation_id AND i.ended_at IS NULL
    RETURNING i.pool_id, i.token_id IS NOT NULL
    INTO v_pool, v_linked;
    IF NOT FOUND THEN
        RETURN QUERY SELECT false, false, '{}'::bigint[], '{}'::int[], '{}'::smallint[];
        RETURN;
    END IF;
    PERFORM weft._at_heartbeat(incarnation_id, batch_ids, job_ids, attempts, claiming, _heartbeat.at);
    SELECT array_agg(c.claim_id)
    INTO v_seen
    FROM weft.claim c
    WHERE c.incarnation_id = _heartbeat.incarnation_id;
    IF v_seen IS NOT NULL THEN
        -- A claim that commits meanwhile, whatever its number, stays for the next heartbeat: only claims seen
        -- here are replaced. A job that the worker has received and does not list has ended: a fast worker
        -- has half a million of these, which are not read.
        DELETE FROM weft.claim c
        WHERE c.incarnation_id = _heartbeat.incarnation_id
            AND c.claim_id = ANY (v_seen)
            -- Something on the way to a worker outside may repeat requests: two claims took jobs, and the
            -- reply of one arrived.
            AND c.call = ANY (_heartbeat.heard)
            AND NOT v_linked;
        SELECT array_agg(l.batch_id), array_agg(l.lane_id), array_agg(l.job_id)
        INTO v_batch, v_lane, v_job
        FROM (
            SELECT x.batch_id, x.lane_id, x.job_id
            FROM weft._live_attempts(_heartbeat.incarnation_id) x
            UNION
            SELECT t.b, y.lane_id, t.j
            FROM unnest(_heartbeat.batch_ids, _heartbeat.job_ids, _heartbeat.attempts) t (b, j, a)
            CROSS JOIN LATERAL (SELECT y.* FROM weft.job y WHERE y.batch_id = t.b AND y.job_id = t.j OFFSET 0)
                y
            WHERE y.state = STATE_RUNNING AND y.incarnation_id = _heartbeat.incarnation_id AND y.attempt = t.a
        ) l;
        -- What was given to the worker (_give_to_sleeper) keeps its number while it runs unheard of: the
        -- worker may be about to ask.
        DELETE FROM weft.claim c
        WHERE c.incarnation_id = _heartbeat.incarnation_id
            AND c.claim_id = ANY (v_seen)
            AND (
                coalesce(c.call, 0) >= 0
                    OR NOT EXISTS (
                        SELECT
                        FROM weft.job j
                        WHERE j.batch_id = c.batch_id
                            AND j.job_id = ANY (c.jobs)
                            AND j.state = STATE_RUNNING
                            AND j.incarnation_id = c.incarnation_id
                    )
            );
        INSERT INTO weft.claim (incarnation_id, batch_id, lane_id, jobs)
        SELECT _heartbeat.incarnation_id, l.b, l.a, array_agg(l.j)
        FROM unnest(v_batch, v_lane, v_job) l (b, a, j)
        GROUP BY l.b, l.a;

        WITH live AS MATERIALIZED (
            SELECT l.batch_id, l.job_id
            FROM weft._live_attempts(_heartbeat.incarnation_id) l
            WHERE l.started_at IS NOT NULL
            ORDER BY 1, 2
        ),
        locked AS MATERIALIZED (
            SELECT j.*
            FROM live l
            CROSS JOIN LATERAL (
                SELECT
                    y.ctid AS tid,
                    y.batch_id, y.job_id, y.tenant_id, y.group_id, y.shape_id, y.rate_card_id, y.billed_ms,
                    weft._ms_between(y.started_at, _heartbeat.at) AS ms
                FROM weft.job y
                WHERE y.batch_id = l.batch_id
                    AND y.job_id = l.job_id
                    AND y.state = STATE_RUNNING
                    AND y.incarnation_id = _heartbeat.incarnation_id
                FOR NO KEY UPDATE
            ) j
        ),
        upd AS (
            -- By ctid, not by key: a plan may read the whole table to find them by key.
            UPDATE weft.job j
            SET billed_ms = k.ms
            FROM locked k
            WHERE j.ctid = k.tid AND k.ms > k.billed_ms AND j.billed_ms = k.billed_ms
            RETURNING k.*
        )
        INSERT INTO weft.job_delta (
            tenant_id, batch_id, group_id, shape_id, pool_id, rate_card_id, usage_on, usage_ms
        )
        SELECT
            u.tenant_id,
            u.batch_id,
            u.group_id,
            u.shape_id,
            v_pool,
            u.rate_card_id,
            (_heartbeat.at AT TIME ZONE 'UTC')::date,
            sum(u.ms - u.billed_ms)
        FROM upd u
        GROUP BY 1, 2, 3, 4, 6;
        v_usage_changed := FOUND;
        SELECT array_agg(l.batch_id), array_agg(l.job_id), array_agg(l.attempt), count(*)
        INTO v_batch, v_job, v_attempt, v_n
        FROM (SELECT * FROM weft._live_attempts(_heartbeat.incarnation_id) x ORDER BY x.batch_id, x.job_id) l
        WHERE NOT _heartbeat.claiming
            AND l.started_at IS NULL
            AND l.phase = PHASE_ASSIGNED
            AND l.claimed_at < _heartbeat.at - interval '5 seconds'
            AND (l.batch_id, l.job_id, l.attempt) NOT IN (
                SELECT t.b, t.j, t.a
                FROM unnest(_heartbeat.batch_ids, _heartbeat.job_ids, _heartbeat.attempts) t (b, j, a)
            );
        IF v_n > 0 THEN
            v_zeros := array_fill(0::bigint, ARRAY[v_n]);
            PERFORM weft.complete_attempts(
                _heartbeat.incarnation_id, v_batch, v_job, v_attempt, NULL, v_zeros,
                array_fill(REASON_PREEMPTED::smallint, ARRAY[v_n]),
                NULL, NULL, v_zeros, v_zeros, v_zeros, NULL, NULL, NULL, NULL,
                array_fill('its worker did not hear of the claim'::text, ARRAY[v_n]),
                at => _heartbeat.at
            );
        ELSIF v_usage_changed THEN
            PERFORM weft._announce();
        END IF;
    END IF;
    RETURN QUERY
    SELECT
        true,
        weft._has_work(_heartbeat.incarnation_id),
        coalesce(array_agg(c.batch_id), '{}'),
        coalesce(array_agg(c.job_id), '{}'),
        coalesce(array_agg(c.attempt), '{}')
    FROM weft.list_to_stop(
        _heartbeat.incarnation_id, _heartbeat.batch_ids, _heartbeat.job_ids, _heartbeat.attempts
    ) c
    WHERE cardinality(_heartbeat.batch_ids) > 0;
END $$;
