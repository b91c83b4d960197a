-- complete_attempts: record ends of attempts: job, attempt, usage, counters, children, failures, event.
-- Safe to repeat: yes, a repeated report is answered ok and changes nothing.
-- Locks: job (in key order); as _after_ends; as _after_late_ends.
-- Plan: job by key for each report; edges by parent, only in batches that have any.
-- A NULL column stands for the default: no start, reason, exit code, signal, message or place of output; not
--   truncated, no stderr.
-- causes: what messages have in common: see _note_failures.
-- incarnation_ids: whose each report is, if not all are of incarnation_id; all are of its pool.
-- Returns: one verdict per report, in order: ok; or stale if the reporter does not own the attempt, or it
--   ended differently. With incarnation_ids stale stands for all that was not recorded now: report it alone;
--   and a call fails that waits long for a lock.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.complete_attempts(
    incarnation_id int,
    batch_ids bigint[],
    job_ids int[],
    attempts smallint[],
    start_ages_us bigint[],
    end_ages_us bigint[],
    reasons smallint[],
    exit_codes int[],
    signals smallint[],
    cpu_ms_list bigint[],
    memory_peaks bigint[],
    stdout_bytes_list bigint[],
    stderr_bytes_list bigint[],
    truncated_list boolean[],
    segments int[],
    offsets bigint[],
    messages text[],
    causes text[] DEFAULT NULL,
    incarnation_ids int[] DEFAULT NULL,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS text[] LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_n bigint[];
    v_batch bigint[];
    v_job int[];
    v_state smallint[];
    v_pool int;
    v_at timestamptz;
    v_again boolean;
    v_failed boolean;
    -- a job's lane takes more than cpu and memory; no other attempt may follow
    v_frees boolean;
    v_finals boolean[];
BEGIN
    IF incarnation_ids IS NOT NULL THEN
        PERFORM set_config('lock_timeout', '300ms', true);
    END IF;
    SELECT i.pool_id
    INTO STRICT v_pool
    FROM weft.worker_incarnation i
    WHERE i.incarnation_id = complete_attempts.incarnation_id;
    IF REASON_CANCELLED = ANY (reasons) OR weft._has_failure(reasons) THEN
        SELECT *
        INTO reasons, v_finals
        FROM weft._before_ends(batch_ids, job_ids, attempts, reasons, exit_codes, signals, at);
    END IF;
    WITH report AS (  -- sorted, so that rows are locked in the order of their keys
        SELECT
            t.*,
            complete_attempts.at - greatest(t.end_age_us, 0) * interval '1 microsecond' AS end_at,
            complete_attempts.at - greatest(t.start_age_us, t.end_age_us, 0)
                * interval '1 microsecond' AS start_at
        FROM unnest(
            batch_ids, job_ids, attempts, start_ages_us, end_ages_us, reasons, exit_codes, signals,
            cpu_ms_list, memory_peaks, stdout_bytes_list, stderr_bytes_list, truncated_list, segments,
            offsets, messages, v_finals, incarnation_ids
        ) WITH ORDINALITY AS t (
            batch_id, job_id, attempt, start_age_us, end_age_us, reason, exit_code, signal, cpu_ms,
            memory_peak, stdout_bytes, stderr_bytes, truncated, segment, log_offset, message, final, reporter,
            n
        )
        ORDER BY t.batch_id, t.job_id
    ),
    upd AS (
        UPDATE weft.job j
        SET
            state = weft._state_after_end(
                r.reason,
                r.start_age_us IS NOT NULL,
                j.n_lost,
                j.attempt - j.n_uncounted,
                j.max_attempts,
                j.retry_on,
                SETTING_LOSSES_MAX,
                r.final
            ),  -- the setting is read only for a loss
            n_uncounted = j.n_uncounted + (
                (
                    r.reason IN (REASON_BLOCKED, REASON_OVERDUE)
                        OR r.reason IN (REASON_PREEMPTED, REASON_LOST)
                            AND (r.start_age_us IS NULL OR (j.retry_on >> REASON_LOST) & 1 = 0)
                ) IS TRUE
            )::int,
            n_lost = j.n_lost + (
                r.reason IS NOT NULL
                    AND r.reason IN (REASON_PREEMPTED, REASON_LOST)
                    AND r.start_age_us IS NOT NULL
            )::int,
            phase = NULL,
            incarnation_id = NULL,
            listed = j.listed OR coalesce(r.reason, 0) NOT IN (0, REASON_CANCELLED)
        FROM report r
        WHERE j.batch_id = r.batch_id
            AND j.job_id = r.job_id
            AND j.attempt = r.attempt
            AND j.state = STATE_RUNNING
            AND j.incarnation_id = coalesce(r.reporter, complete_attempts.incarnation_id)
        RETURNING
            r.n, r.reporter, j.batch_id, j.job_id, j.attempt, j.tenant_id, j.group_id, j.shape_id, j.lane_id,
            j.state, j.rate_card_id, j.claimed_at, j.billed_ms, r.reason, r.exit_code, r.signal, r.cpu_ms,
            r.memory_peak, r.stdout_bytes,
            coalesce(r.stderr_bytes, 0) AS stderr_bytes,
            coalesce(r.truncated, false) AS truncated,
            r.segment,
            r.log_offset,
            r.message,
            CASE
                WHEN j.started_at IS NOT NULL THEN j.started_at
                WHEN r.start_age_us IS NULL THEN NULL
                ELSE greatest(j.claimed_at, r.start_at)
            END AS started_at,  -- invariant 12
            -- A delayed report gets too late a date. If the start was reported in time, use the duration that
            -- the worker measured.
            greatest(
                j.claimed_at,
                j.started_at,
                least(
                    r.end_at,
                    CASE WHEN r.start_age_us IS NOT NULL THEN j.started_at + (r.end_at - r.start_at) END
                )
            ) AS ended_at
    ),
    ins AS (
        INSERT INTO weft.attempt (
            batch_id, job_id, attempt, tenant_id, incarnation_id, shape_id, rate_card_id, state, reason,
            exit_code, signal, claimed_at, started_at, ended_at, cpu_ms, memory_peak_bytes, stdout_bytes,
            stderr_bytes, truncated, log_segment, log_offset, message
        )
        SELECT
            u.batch_id, u.job_id, u.attempt, u.tenant_id,
            coalesce(u.reporter, complete_attempts.incarnation_id),
            u.shape_id, u.rate_card_id, u.state, u.reason, u.exit_code, u.signal, u.claimed_at, u.started_at,
            u.ended_at, u.cpu_ms, u.memory_peak, u.stdout_bytes, u.stderr_bytes, u.truncated, u.segment,
            u.log_offset, u.message
        FROM upd u
    ),
    del AS (
        INSERT INTO weft.job_delta (
            tenant_id, batch_id, group_id, shape_id, pool_id, rate_card_id, usage_on, usage_ms, n_running,
            n_ready, n_blocked, n_succeeded, n_failed, n_errored, n_cancelled, last_ended_at, stored_bytes
        )
        SELECT
            u.tenant_id, u.batch_id, u.group_id, u.shape_id, v_pool, u.rate_card_id,
            (complete_attempts.at AT TIME ZONE 'UTC')::date,
            sum(coalesce(weft._ms_between(u.started_at, u.ended_at), 0) - u.billed_ms),
            -count(*),
            count(*) FILTER (WHERE u.state = STATE_READY),
            count(*) FILTER (WHERE u.state = STATE_BLOCKED),
            count(*) FILTER (WHERE u.state = STATE_SUCCESS),
            count(*) FILTER (WHERE u.state = STATE_FAILED),
            count(*) FILTER (WHERE u.state = STATE_ERROR),
            count(*) FILTER (WHERE u.state = STATE_CANCELLED),
            max(u.ended_at),  -- if it is ready again it ends later
            weft._saturated(sum(weft._kept_bytes(u.stdout_bytes, u.stderr_bytes, u.truncated)))
        FROM upd u
        GROUP BY u.tenant_id, u.batch_id, u.group_id, u.shape_id, u.rate_card_id
    ),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT
            complete_attempts.at,
            u.tenant_id,
            u.batch_id,
            'jobs.' || (SELECT s.word FROM weft.job_state s WHERE s.state = u.state),
            STATE_RUNNING,
            u.state,
            array_agg(u.job_id)
        FROM upd u
        GROUP BY u.tenant_id, u.batch_id, u.state
    )
    SELECT
        array_agg(u.n),
        array_agg(u.batch_id),
        array_agg(u.job_id),
        array_agg(u.state),
        bool_or(u.state IN (STATE_READY, STATE_BLOCKED)),
        bool_or(u.lane_id <> 0),
        bool_or(u.state IN (STATE_FAILED, STATE_ERROR)),
        greatest(complete_attempts.at, max(u.ended_at))
    INTO v_n, v_batch, v_job, v_state, v_again, v_frees, v_failed, v_at
    FROM upd u;

    IF v_failed THEN
        PERFORM weft._note_failures(batch_ids, job_ids, attempts, reasons, causes, complete_attempts.at);
    END IF;
    IF v_n IS NOT NULL THEN
        PERFORM weft._after_ends(
            incarnation_ids || incarnation_id, v_batch, v_job, v_state, v_again, v_failed, v_frees, at, v_at
        );
    END IF;
    IF cardinality(v_n) = cardinality(job_ids) THEN
        RETURN array_fill('ok'::text, ARRAY[cardinality(job_ids)]);
    END IF;
    -- the others are looked at when they report alone
    IF incarnation_ids IS NOT NULL THEN
        incarnation_id := NULL;
    END IF;
    PERFORM weft._after_late_ends(
        incarnation_id, batch_ids, job_ids, attempts, cpu_ms_list, memory_peaks, stdout_bytes_list,
        stderr_bytes_list, truncated_list, segments, offsets, at
    );
    RETURN weft._verdicts_on_ends(incarnation_id, batch_ids, job_ids, attempts, reasons, v_n);
END $$;
