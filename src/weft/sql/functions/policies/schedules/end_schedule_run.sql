-- end_schedule_run: record what became of a run: a batch, or why it was refused. A schedule that is refused
--   too often in a row is paused.
-- Safe to repeat: yes.
-- Locks: schedule; schedule_run.
-- Plan: by key; the runs of a schedule are few.
-- idempotency_key: that of the submission: if it has created a batch all the same, the reply was lost, and
--   the error does not count.
-- A schedule that was removed meanwhile keeps no runs.
-- Returns: whether it was paused.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.end_schedule_run(
    tenant_id int,
    of_schedule_id bigint,
    due_at timestamptz,
    by_hand boolean,
    batch_id bigint,
    error jsonb,
    idempotency_key text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_schedule weft.schedule;
    v_pauses boolean;
    v_batch bigint := end_schedule_run.batch_id;
    v_error jsonb := end_schedule_run.error;
BEGIN
    SELECT s.* INTO v_schedule FROM weft.schedule s WHERE s.schedule_id = of_schedule_id FOR UPDATE;
    IF v_schedule.schedule_id IS NULL
        OR EXISTS (
            SELECT
            FROM weft.schedule_run r
            WHERE r.schedule_id = of_schedule_id
                AND r.ended_at IS NOT NULL
                AND (r.due_at = end_schedule_run.due_at OR r.batch_id = end_schedule_run.batch_id)
        )
    THEN
        RETURN false;
    END IF;
    IF v_error IS NOT NULL THEN
        SELECT b.batch_id
        INTO v_batch
        FROM weft.batch b
        WHERE b.user_id = v_schedule.user_id AND b.idempotency_key = end_schedule_run.idempotency_key;
        v_error := CASE WHEN v_batch IS NULL THEN v_error END;
    END IF;
    INSERT INTO weft.schedule_run (schedule_id, due_at, tenant_id, by_hand, ended_at, batch_id, error)
    VALUES (
        of_schedule_id,
        end_schedule_run.due_at,
        v_schedule.tenant_id,
        end_schedule_run.by_hand,
        end_schedule_run.at,
        v_batch,
        v_error
    )
    ON CONFLICT (schedule_id, due_at) DO UPDATE
    SET
        ended_at = excluded.ended_at,
        batch_id = excluded.batch_id,
        error = excluded.error,
        taken_until = NULL;
    v_pauses := v_error IS NOT NULL
        AND v_schedule.paused_at IS NULL
        AND v_schedule.n_failures + 1 >= SETTING_SCHEDULE_FAILURES_MAX;
    UPDATE weft.schedule s
    SET
        n_failures = CASE WHEN v_error IS NULL THEN 0 ELSE s.n_failures + 1 END,
        next_at = CASE WHEN NOT v_pauses THEN s.next_at END,
        paused_at = CASE WHEN v_pauses THEN end_schedule_run.at ELSE s.paused_at END,
        pause_reason = CASE WHEN v_pauses THEN 'failures' ELSE s.pause_reason END
    WHERE s.schedule_id = of_schedule_id;
    DELETE FROM weft.schedule_run r
    WHERE r.schedule_id = of_schedule_id
        AND (
            CASE
                WHEN r.ended_at IS NULL THEN v_pauses
                ELSE r.due_at <= (
                    SELECT x.due_at
                    FROM weft.schedule_run x
                    WHERE x.schedule_id = of_schedule_id AND x.ended_at IS NOT NULL
                    ORDER BY x.due_at DESC
                    OFFSET SETTING_SCHEDULE_RUNS_KEPT
                    LIMIT 1
                )
            END
        );
    IF v_schedule.next_at <= end_schedule_run.at THEN
        PERFORM pg_notify('driver', 'schedules');  -- it waited for this run
    END IF;
    RETURN v_pauses;
END $$;
