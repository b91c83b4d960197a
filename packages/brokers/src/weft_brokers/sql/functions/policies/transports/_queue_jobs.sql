-- _queue_jobs: picked jobs are offered to a transport from now on, instead of to workers: they are queued,
--   each with one offer.
-- Safe to repeat: no.
-- Plan: by ctid; offers by job.
-- Locks: job (by the caller); ready_job (by the caller); transport_offer (with the job).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._queue_jobs(
    picked weft.picked,
    offer weft.offer,
    of_pool_id int,
    of_queue text,
    of_transport text,
    is_foreign boolean,
    at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF offer.runnable_id = 0 THEN
        DELETE FROM weft.ready_job q WHERE q.ctid = ANY (picked.queue_tids);
    END IF;
    -- That of an attempt which has ended.
    DELETE FROM weft.transport_offer o WHERE o.batch_id = offer.batch_id AND o.job_id = ANY (picked.job_ids);
    WITH upd AS (
        UPDATE weft.job j
        SET state = STATE_QUEUED
        WHERE j.ctid = ANY (picked.tids)
        RETURNING j.job_id, j.group_id, j.shape_id
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        VALUES (
            _queue_jobs.at,
            offer.tenant_id,
            offer.batch_id,
            'jobs.queued',
            STATE_READY,
            STATE_QUEUED,
            picked.job_ids
        )
    ),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, n_ready, n_queued)
        SELECT offer.tenant_id, offer.batch_id, u.group_id, u.shape_id, of_pool_id, -count(*), count(*)
        FROM upd u
        GROUP BY u.group_id, u.shape_id
    )
    INSERT INTO weft.transport_offer (
        batch_id, job_id, tenant_id, pool_id, queue, transport, offered_at, send_at, fence, weight
    )
    SELECT
        offer.batch_id, t.job_id, offer.tenant_id, of_pool_id, of_queue, of_transport, _queue_jobs.at,
        _queue_jobs.at,
        CASE WHEN is_foreign THEN gen_random_uuid() END,
        (SELECT s.weight FROM weft.user_share s WHERE s.pool_id = of_pool_id AND s.user_id = offer.user_id)
    FROM unnest(picked.job_ids) WITH ORDINALITY t (job_id, n)
    ORDER BY t.n;
END $$;
