-- _after_visible: what follows when jobs of an update are visible and could start: limits of spending, holds
--   and deadlines keep them back, and those with a lifecycle get their first statuses.
-- Safe to repeat: no.
-- For: _make_visible, before it admits jobs at gates and announces.
-- Locks: as _pause_batch; hold_row (those of the batch); deadline (its own: nobody else);
--   job (nobody else: they are new, or locked by the caller); as _begin_waits; as _end_unchanged (nobody
--   else); as _end_as_errors (rows above); as _begin_statuses.
-- Plan: limits by tenant and deadlines by key, one look; theirs, if there are any.
-- Raises what _pause_batch raises.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._after_visible(
    of_update weft.batch_update, is_new_batch boolean, of_lifecycle_id int, at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_last int := of_update.first_job + of_update.n_jobs - 1;
    v_has record;
    v_late int[];
    v_waits int[];
    v_same int[];
BEGIN
    SELECT
        EXISTS (SELECT FROM weft.spend_limit l WHERE l.tenant_id = of_update.tenant_id) AS limits,
        EXISTS (
            SELECT
            FROM weft.job_deadline d
            WHERE d.batch_id = of_update.batch_id AND d.first_job BETWEEN of_update.first_job AND v_last
        ) AS dates
    INTO v_has;
    IF v_has.limits THEN
        PERFORM weft._pause_batch(of_update.batch_id, of_update.update_id = 1);
    END IF;
    IF NOT is_new_batch THEN  -- the sweep parks the new jobs of held groups; they are not claimed meanwhile
        UPDATE weft.group_hold h
        SET swept = false, sweep_job = least(h.sweep_job, of_update.first_job - 1)
        WHERE h.batch_id = of_update.batch_id AND h.released_at IS NULL;
    END IF;
    IF v_has.dates THEN
        -- Jobs that are late already end here, so that none of them starts. Those that wait for somebody wait
        -- from now on, if they have no parents; those that need not run end, too.
        WITH due AS (
            UPDATE weft.job_deadline d
            SET due_at = nullif(d.latest_start, 'infinity')
            WHERE d.batch_id = of_update.batch_id AND d.first_job BETWEEN of_update.first_job AND v_last
            RETURNING d.first_job, d.timeout
        )
        SELECT array_agg(u.first_job) FILTER (WHERE u.timeout IS NOT NULL)
        INTO v_waits
        FROM due u;
        v_late := ARRAY(
            SELECT j
            FROM weft.job_deadline d, generate_series(d.first_job, d.last_job) j
            WHERE d.batch_id = of_update.batch_id
                AND d.first_job BETWEEN of_update.first_job AND v_last
                AND d.latest_start <= _after_visible.at
                AND d.succeeds IS NULL
            ORDER BY j
        );
        IF v_waits IS NOT NULL THEN
            PERFORM weft._begin_waits(of_update.batch_id, v_waits, _after_visible.at);
        END IF;
        v_same := ARRAY(
            SELECT c.job_id
            FROM weft.job_cache c
            WHERE c.batch_id = of_update.batch_id AND c.job_id BETWEEN of_update.first_job AND v_last
            ORDER BY 1
        );
        IF v_same <> '{}' THEN
            PERFORM weft._end_unchanged(of_update.batch_id, v_same, _after_visible.at);
        END IF;
        IF v_late <> '{}' THEN
            PERFORM weft._end_as_errors(
                of_update.batch_id, v_late, _after_visible.at, 'deadline', 'could not end by its deadline'
            );
        END IF;
        PERFORM pg_notify('driver', 'deadlines');  -- it may sleep until a later date
    END IF;
    IF of_lifecycle_id IS NOT NULL THEN
        PERFORM weft._begin_statuses(of_update, of_lifecycle_id, _after_visible.at);
    END IF;
END $$;
