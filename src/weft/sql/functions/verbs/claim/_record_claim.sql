-- _record_claim: turn picked jobs into attempts of an incarnation: their rows, the resources taken, the
--   counters and the event.
-- Safe to repeat: no.
-- Locks: job (by the caller); ready_job (by the caller). So the rows have not moved.
-- Plan: by ctid. It runs with the settings of its caller.
-- Returns: one row per attempt, in the order picked; `with_chunks` adds the specs if they are small.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._record_claim(
    picked weft.picked,
    offer weft.offer,
    incarnation_id int,
    pool_id int,
    rate_card_id smallint,
    call bigint,
    with_chunks boolean,
    at timestamptz
) RETURNS TABLE (
    batch_id bigint,
    job_id int,
    attempt smallint,
    cpu_m bigint,
    memory_mib bigint,
    storage_mib bigint,
    gpu int,
    spec_first int,
    runnable_id bigint,
    chunk bytea
) LANGUAGE plpgsql AS $$
DECLARE
    v_storage_mib bigint := 0;
    v_gpu int := 0;
BEGIN
    IF offer.lane_id <> 0 THEN
        SELECT coalesce((l.amounts ->> 'storage_mib')::bigint, 0), coalesce((l.amounts ->> 'gpu')::int, 0)
        INTO v_storage_mib, v_gpu
        FROM weft.lane l
        WHERE l.lane_id = offer.lane_id;
    END IF;
    IF offer.runnable_id = 0 THEN
        DELETE FROM weft.ready_job q WHERE q.ctid = ANY (picked.queue_tids);
    END IF;
    -- Invariant 12: all rows seen were committed before this statement began, so the clock is read in this
    -- statement. If the clock was set back, the parents' ends (ready_at) and the previous attempt still come
    -- first.
    RETURN QUERY
    WITH upd AS (
        UPDATE weft.job j
        SET
            state = STATE_RUNNING,
            phase = PHASE_ASSIGNED,
            attempt = j.attempt + 1,
            incarnation_id = _record_claim.incarnation_id,
            claimed_at = greatest(
                _record_claim.at,
                (SELECT clock_timestamp()),
                j.ready_at,
                CASE
                    WHEN j.attempt > 0
                        THEN (
                            SELECT a.ended_at
                            FROM weft.attempt a
                            WHERE a.batch_id = j.batch_id AND a.job_id = j.job_id AND a.attempt = j.attempt
                        )
                END
            ),
            started_at = NULL,
            billed_ms = 0,
            rate_card_id = _record_claim.rate_card_id
        WHERE j.ctid = ANY (picked.tids)
        RETURNING j.job_id, j.attempt, j.cpu_m, j.memory_mib, j.shape_id, j.spec_first, j.group_id
    ),
    cla AS (
        INSERT INTO weft.claim (incarnation_id, batch_id, lane_id, jobs, call)
        VALUES (
            _record_claim.incarnation_id, offer.batch_id, offer.lane_id, picked.job_ids, _record_claim.call
        )
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        VALUES (
            _record_claim.at,
            offer.tenant_id,
            offer.batch_id,
            'jobs.running',
            STATE_READY,
            STATE_RUNNING,
            picked.job_ids
        )
    ),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_ready, n_running)
        SELECT
            offer.tenant_id,
            offer.batch_id,
            u.group_id,
            u.shape_id,
            _record_claim.pool_id,
            -count(*),
            count(*)
        FROM upd u
        GROUP BY u.group_id, u.shape_id
    )
    SELECT
        offer.batch_id, u.job_id, u.attempt, u.cpu_m::bigint, u.memory_mib::bigint, v_storage_mib, v_gpu,
        u.spec_first, offer.runnable_id,
        CASE
            WHEN with_chunks
                THEN (
                    SELECT x.body
                    FROM weft.job_spec x
                    WHERE x.batch_id = offer.batch_id
                        AND x.first_job = u.spec_first
                        AND octet_length(x.body) <= 8192
                )
        END
    FROM upd u
    ORDER BY u.job_id < picked.job_ids[1], u.job_id;
END $$;
