-- complete_attempts: record ends of attempts: job, attempt, usage, counters, children, failures, event.
-- Called by: Store.complete_attempts (worker agent).   Safe to repeat: yes, a repeated report is answered ok and changes nothing.
-- Locks: job (in key order); place (with the job); as _count_failures; as _settle_children; gate (tried); as _announce.
-- Plan: job by key for each report; edges by parent, only in batches that have any.
-- A NULL column stands for the default: no reason, no signal, no message, not truncated, nothing on stderr.
-- Returns: one verdict per report, in order: ok; or stale if the reporter does not own the attempt, or it ended differently.
-- Owner: weft_system.  Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.complete_attempts(
    incarnation_id int, batch_ids bigint[], job_ids int[], attempts smallint[], start_ages_us bigint[], end_ages_us bigint[],
    reasons smallint[], exit_codes int[], signals smallint[], cpu_mss bigint[], memory_peaks bigint[],
    stdout_bytess bigint[], stderr_bytess bigint[], truncateds boolean[], segments int[], offsets bigint[], messages text[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS text[] LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
    v_n bigint[]; v_batch bigint[]; v_job int[]; v_state smallint[]; v_verdicts text[];
    v_pool int;
    v_again boolean; v_edges boolean; v_failed boolean; v_gated boolean;
    v_frees boolean;          -- a job's lane takes more than cpu and memory
    v_gates int[];            -- gates whose places become free
    v_at timestamptz;
BEGIN
    SELECT i.pool_id INTO STRICT v_pool FROM weft.worker_incarnation i WHERE i.incarnation_id = complete_attempts.incarnation_id;
    WITH report AS (  -- sorted, so that rows are locked in the order of their keys
        SELECT t.*, complete_attempts.at - greatest(t.end_age_us, 0) * interval '1 microsecond' AS end_at,
               complete_attempts.at - greatest(t.start_age_us, t.end_age_us, 0) * interval '1 microsecond' AS start_at
        FROM unnest(batch_ids, job_ids, attempts, start_ages_us, end_ages_us, reasons, exit_codes, signals, cpu_mss, memory_peaks,
                    stdout_bytess, stderr_bytess, truncateds, segments, offsets, messages)
             WITH ORDINALITY AS t (batch_id, job_id, attempt, start_age_us, end_age_us, reason, exit_code, signal, cpu_ms, memory_peak,
                                   stdout_bytes, stderr_bytes, truncated, segment, log_offset, message, n)
        ORDER BY t.batch_id, t.job_id),
    upd AS (
        -- The next state, by reason: a failure with tries left and a lost, preempted or returned
        -- attempt make the job ready again; after `losses_max` losses it is an error.
        UPDATE weft.job j SET
            state = CASE
                WHEN r.reason IS NULL THEN STATE_SUCCESS
                WHEN r.reason = REASON_CANCELLED THEN STATE_CANCELLED
                WHEN r.reason IN (REASON_PREEMPTED, REASON_LOST) THEN CASE
                    WHEN r.start_age_us IS NOT NULL AND j.n_lost >= (SELECT d.losses_max FROM weft.driver_state d)  -- read only for a loss
                    THEN STATE_ERROR ELSE STATE_READY END
                WHEN j.attempt - j.n_uncounted < j.max_attempts AND (j.retry_on >> r.reason) & 1 = 1 THEN STATE_READY
                WHEN r.reason IN (REASON_TIMEOUT, REASON_OOM, REASON_DISK, REASON_NO_PROGRAM, REASON_NO_IMAGE, REASON_BAD_SPEC,
                    REASON_LOG_LIMIT, REASON_SYSTEM) THEN STATE_ERROR
                ELSE STATE_FAILED END,
            n_uncounted = j.n_uncounted + (r.reason IS NOT NULL AND r.reason IN (REASON_PREEMPTED, REASON_LOST))::int,
            n_lost = j.n_lost + (r.reason IS NOT NULL AND r.reason IN (REASON_PREEMPTED, REASON_LOST) AND r.start_age_us IS NOT NULL)::int,
            phase = NULL, incarnation_id = NULL,
            listed = j.listed OR coalesce(r.reason, 0) NOT IN (0, REASON_CANCELLED)
        FROM report r
        WHERE j.batch_id = r.batch_id AND j.job_id = r.job_id AND j.attempt = r.attempt AND j.state = STATE_RUNNING
          AND j.incarnation_id = complete_attempts.incarnation_id
        RETURNING r.n, j.batch_id, j.job_id, j.attempt, j.tenant_id, j.group_id, j.shape_id, j.lane_id, j.state, j.rate_card_id,
            j.claimed_at, j.billed_ms,
            r.reason, r.exit_code, r.signal, r.cpu_ms, r.memory_peak, r.stdout_bytes, coalesce(r.stderr_bytes, 0) AS stderr_bytes,
            coalesce(r.truncated, false) AS truncated, r.segment, r.log_offset, r.message,
            -- Invariant 12: claim <= start <= end, whatever ages are reported.
            CASE WHEN j.started_at IS NOT NULL THEN j.started_at
                 WHEN r.start_age_us IS NULL THEN NULL ELSE greatest(j.claimed_at, r.start_at) END AS started_at,
            -- A delayed report gets too late a date. If the start was reported in time, use the duration that the worker measured.
            greatest(j.claimed_at, j.started_at, least(r.end_at,
                CASE WHEN r.start_age_us IS NOT NULL THEN j.started_at + (r.end_at - r.start_at) END)) AS ended_at),
    ins AS (
        INSERT INTO weft.attempt (batch_id, job_id, attempt, tenant_id, incarnation_id, shape_id, rate_card_id, state, reason, exit_code,
            signal, claimed_at, started_at, ended_at, cpu_ms, memory_peak_bytes, stdout_bytes, stderr_bytes, truncated, log_segment,
            log_offset, message)
        SELECT u.batch_id, u.job_id, u.attempt, u.tenant_id, complete_attempts.incarnation_id, u.shape_id, u.rate_card_id, u.state,
            u.reason,
            u.exit_code, u.signal, u.claimed_at, u.started_at, u.ended_at, u.cpu_ms, u.memory_peak, u.stdout_bytes, u.stderr_bytes,
            u.truncated, u.segment, u.log_offset, u.message
        FROM upd u),
    del AS (
        INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, rate_card_id, usage_on, usage_ms,
            n_running, n_ready, n_succeeded, n_failed, n_errored, n_cancelled, last_ended_at)
        SELECT u.tenant_id, u.batch_id, u.group_id, u.shape_id, v_pool, u.rate_card_id, (complete_attempts.at AT TIME ZONE 'UTC')::date,
            sum(coalesce(weft._ms_between(u.started_at, u.ended_at), 0) - u.billed_ms), -count(*),
            count(*) FILTER (WHERE u.state = STATE_READY), count(*) FILTER (WHERE u.state = STATE_SUCCESS),
            count(*) FILTER (WHERE u.state = STATE_FAILED),
            count(*) FILTER (WHERE u.state = STATE_ERROR), count(*) FILTER (WHERE u.state = STATE_CANCELLED),
            max(u.ended_at)  -- a job that is ready again will end later
        FROM upd u GROUP BY u.tenant_id, u.batch_id, u.group_id, u.shape_id, u.rate_card_id),
    eve AS (
        INSERT INTO weft.event (at, tenant_id, batch_id, kind, from_state, to_state, jobs)
        SELECT complete_attempts.at, u.tenant_id, u.batch_id, 'jobs.' || (SELECT s.word FROM weft.job_state s WHERE s.state = u.state),
            STATE_RUNNING,
            u.state, array_agg(u.job_id)
        FROM upd u GROUP BY u.tenant_id, u.batch_id, u.state)
    SELECT array_agg(u.n), array_agg(u.batch_id), array_agg(u.job_id), array_agg(u.state),
           bool_or(u.state = STATE_READY), bool_or(u.lane_id <> 0), bool_or(u.state IN (STATE_FAILED, STATE_ERROR)),
               greatest(complete_attempts.at, max(u.ended_at))
    INTO v_n, v_batch, v_job, v_state, v_again, v_frees, v_failed, v_at FROM upd u;

    IF v_n IS NOT NULL THEN
        -- The flag is read after the rows were changed, so a transaction that adds an edge now waits for us and sees the end (add_jobs).
        SELECT bool_or(b.has_edges), v_failed AND bool_or(EXISTS (SELECT FROM weft.failure_count f WHERE f.batch_id = b.batch_id)),
               bool_or(b.gated)
        INTO v_edges, v_failed, v_gated FROM (SELECT DISTINCT x FROM unnest(v_batch) x) d JOIN weft.batch b ON b.batch_id = d.x;
        -- Before any announcement: this may wait for claims, and claims announce (lock order, ADR 0008).
        IF v_failed THEN
            PERFORM weft._count_failures(v_batch, v_job, v_state, complete_attempts.at);
        END IF;
        IF v_gated THEN
            v_gates := weft._free_places(v_batch, v_job);
        END IF;
        IF v_edges THEN
            PERFORM weft._settle_children(v_batch, v_job, v_state, v_at);
        END IF;
        IF v_again THEN
            PERFORM weft._list_ready(v_batch, v_job, v_state, complete_attempts.at);
        ELSE
            PERFORM weft._announce();
        END IF;
        IF v_frees THEN
            PERFORM weft._tell_room(complete_attempts.incarnation_id);
        END IF;
        IF v_gates IS NOT NULL THEN
            PERFORM weft._pass_gates(v_gates, false);  -- last, and without waiting (ADR 20)
        END IF;
        IF cardinality(v_n) = cardinality(job_ids) THEN
            RETURN array_fill('ok'::text, ARRAY[cardinality(job_ids)]);
        END IF;
    END IF;
    SELECT array_agg(CASE WHEN t.n = ANY (v_n) OR EXISTS (
            SELECT FROM weft.attempt a WHERE a.batch_id = t.batch_id AND a.job_id = t.job_id AND a.attempt = t.attempt
              AND a.incarnation_id = complete_attempts.incarnation_id AND a.reason IS NOT DISTINCT FROM t.reason) THEN 'ok' ELSE 'stale' END
                  ORDER BY t.n)
    INTO v_verdicts FROM unnest(batch_ids, job_ids, attempts, reasons) WITH ORDINALITY AS t (batch_id, job_id, attempt, reason, n);
    RETURN coalesce(v_verdicts, '{}');
END $$;
