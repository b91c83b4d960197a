-- remove_old: remove, in bounded sets, events past their retention, updates never committed, notes of batches
--   that got no jobs for as long, operations on batches that ended before the events that are kept, listeners
--   that are gone, and first answers of a day ago.
-- Safe to repeat: yes.
-- Returns: how many rows.
-- Locks: as _check_epoch; term (nobody else removes events); operation (nobody else: they have ended); update
--   (SKIP LOCKED); group (nobody else); job (nobody else); failure_count (nobody else); output_term;
--   empty_batch (SKIP LOCKED); listener; repeat (SKIP LOCKED).
-- Plan: events by key from the oldest on; operations, open updates, empty batches and answers by their
--   indexes.
-- Owner: weft_system.
-- Granted to: weft_driver.
CREATE OR REPLACE FUNCTION weft.remove_old(
    epoch bigint,
    events_keep_s double precision,
    updates_keep_s double precision,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_update record;
    v_n bigint;
    v_total bigint := 0;
    v_xid xid8;
    v_event bigint;
BEGIN
    WITH old AS (
        SELECT e.xid, e.event_id
        FROM (SELECT * FROM weft.event ORDER BY xid, event_id LIMIT 10000) e
        WHERE e.at < remove_old.at - remove_old.events_keep_s * interval '1 second'
    ),
    gone AS (
        DELETE FROM weft.event e
        USING old o
        WHERE e.xid = o.xid AND e.event_id = o.event_id
        RETURNING e.xid, e.event_id
    )
    SELECT count(*) OVER (), g.xid, g.event_id
    INTO v_n, v_xid, v_event
    FROM gone g
    ORDER BY g.xid DESC, g.event_id DESC
    LIMIT 1;
    IF FOUND THEN
        -- The last one that is gone: who has read it has missed nothing.
        UPDATE weft.event_floor f SET xid = v_xid, event_id = v_event;
    END IF;
    v_total := coalesce(v_n, 0);
    DELETE FROM weft.operation o
    WHERE o.operation_id = ANY (
        ARRAY(
            SELECT x.operation_id
            FROM weft.operation x
            WHERE x.batch_id IS NULL
                AND x.ended_at < remove_old.at - remove_old.events_keep_s * interval '1 second'
            LIMIT 1000
        )
    );
    GET DIAGNOSTICS v_n = ROW_COUNT;
    v_total := v_total + v_n;
    FOR v_update IN
        SELECT u.batch_id, u.update_id, u.first_job, u.n_jobs, u.first_job + u.n_jobs - 1 AS last_job
        FROM weft.batch_update u
        WHERE u.committed_at IS NULL
            AND u.created_at < remove_old.at - remove_old.updates_keep_s * interval '1 second'
        ORDER BY u.created_at
        LIMIT 5
        FOR UPDATE SKIP LOCKED
    LOOP
        DELETE FROM weft.job j
        WHERE j.batch_id = v_update.batch_id AND j.job_id BETWEEN v_update.first_job AND v_update.last_job;
        DELETE FROM weft.job_label j
        WHERE j.batch_id = v_update.batch_id AND j.job_id BETWEEN v_update.first_job AND v_update.last_job;
        DELETE FROM weft.job_spec j
        WHERE j.batch_id = v_update.batch_id AND j.first_job BETWEEN v_update.first_job AND v_update.last_job;
        DELETE FROM weft.job_array j
        WHERE j.batch_id = v_update.batch_id AND j.first_job BETWEEN v_update.first_job AND v_update.last_job;
        DELETE FROM weft.edge e
        WHERE e.batch_id = v_update.batch_id AND e.child_id BETWEEN v_update.first_job AND v_update.last_job;
        DELETE FROM weft.parent_share
        WHERE batch_id = v_update.batch_id AND child_id BETWEEN v_update.first_job AND v_update.last_job;
        DELETE FROM weft.parent_end e
        WHERE e.batch_id = v_update.batch_id AND e.child_id BETWEEN v_update.first_job AND v_update.last_job;
        WITH gone AS (
            DELETE FROM weft.bunch x
            WHERE x.batch_id = v_update.batch_id AND x.update_id = v_update.update_id
            RETURNING x.tenant_id, x.n_bytes
        )
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, stored_bytes)
        SELECT g.tenant_id, v_update.batch_id, 0, 0, 0, -sum(g.n_bytes)
        FROM gone g
        GROUP BY 1
        HAVING sum(g.n_bytes) > 0;
        DELETE FROM weft.group_bunch x
        WHERE x.batch_id = v_update.batch_id AND x.update_id = v_update.update_id;
        DELETE FROM weft.bunch_count x
        WHERE x.batch_id = v_update.batch_id AND x.update_id = v_update.update_id;
        DELETE FROM weft.failure_count x
        USING weft.job_group g
        WHERE g.batch_id = v_update.batch_id
            AND g.update_id = v_update.update_id
            AND x.batch_id = g.batch_id
            AND x.group_id = g.group_id;
        DELETE FROM weft.group_ancestor a
        USING weft.job_group g
        WHERE g.batch_id = v_update.batch_id
            AND g.update_id = v_update.update_id
            AND a.batch_id = g.batch_id
            AND a.group_id = g.group_id;
        DELETE FROM weft.job_group g
        WHERE g.batch_id = v_update.batch_id AND g.update_id = v_update.update_id;
        DELETE FROM weft.batch_update u
        WHERE u.batch_id = v_update.batch_id AND u.update_id = v_update.update_id;
        -- Which of them said for how long output is kept is not known: what remains never goes sooner than
        -- all of it says.
        UPDATE weft.output_term o
        SET n_jobs = greatest(o.n_jobs - v_update.n_jobs, 0)
        WHERE o.batch_id = v_update.batch_id AND o.n_jobs IS NOT NULL;
        v_total := v_total + 1;
    END LOOP;
    DELETE FROM weft.empty_batch e
    WHERE e.batch_id = ANY (
        ARRAY(
            SELECT x.batch_id
            FROM weft.empty_batch x
            WHERE x.created_at < remove_old.at - remove_old.updates_keep_s * interval '1 second'
            LIMIT 1000
            FOR UPDATE SKIP LOCKED
        )
    );
    GET DIAGNOSTICS v_n = ROW_COUNT;
    v_total := v_total + v_n;
    DELETE FROM weft.event_listener l WHERE l.seen_at < remove_old.at - interval '1 day';
    DELETE FROM weft.answered_request r
    WHERE r.ctid = ANY (
        ARRAY(
            SELECT x.ctid
            FROM weft.answered_request x
            WHERE x.at < remove_old.at - interval '1 day'
            ORDER BY x.at
            LIMIT 1000
            FOR UPDATE SKIP LOCKED
        )
    );
    GET DIAGNOSTICS v_n = ROW_COUNT;
    RETURN v_total + v_n;
END $$;
