-- _bring_status: after a move of the core, bring the status that belongs to its new state or phase by the shortest allowed way.
-- Safe to repeat: yes.   Locks: job (by the move); as _add_status_rows.   Plan: by key.
-- After an end that is tried again, the status is that of the rule for its exit code; after a limit or a loss, the end of the path for it.
-- Where the lifecycle names nothing, nothing changes; where no allowed way leads there, the status stays and a row says so.
-- weft.since: the date of a phase, which `record_phases` sets.
-- What an error brings says why; of a loss, too, that its attempt is dated at the last heartbeat.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._bring_status(of_job weft.job, old_state smallint, old_phase smallint, of_incarnation_id int) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_status smallint; v_way smallint[]; v_actor text; v_why text; v_path jsonb; v_attempt weft.attempt;
    v_exit weft.lifecycle_exit; v_first smallint[]; v_sends boolean := false;
BEGIN
    IF current_setting('weft.walks', true) = 'on' THEN
        RETURN;  -- change_status writes what a person set
    END IF;
    SELECT s.status INTO v_status FROM weft.job_status s WHERE s.batch_id = of_job.batch_id AND s.job_id = of_job.job_id;
    IF STATE_RUNNING IN (of_job.state, old_state) THEN
        SELECT 'worker ' || w.name INTO v_actor FROM weft.worker_incarnation i JOIN weft.worker w USING (worker_id)
        WHERE i.incarnation_id = of_incarnation_id;
    END IF;
    IF old_state = STATE_RUNNING AND of_job.state <> STATE_RUNNING THEN
        SELECT a.* INTO v_attempt FROM weft.attempt a
        WHERE a.batch_id = of_job.batch_id AND a.job_id = of_job.job_id AND a.attempt = of_job.attempt;
        -- A short attempt reports its start with its end: what its start would have brought comes first.
        IF old_phase < PHASE_EXECUTING AND v_attempt.started_at IS NOT NULL THEN
            SELECT m.way INTO v_first FROM weft.lifecycle_move m
            WHERE m.lifecycle_id = of_job.lifecycle_id AND m.state = STATE_RUNNING AND m.within = PHASE_EXECUTING
                AND m.from_status = v_status AND EXISTS (  -- which its state or an earlier phase brought, and no person
                    SELECT FROM weft.lifecycle_move f WHERE f.lifecycle_id = m.lifecycle_id AND f.state = STATE_RUNNING
                        AND f.from_status = v_status AND f.within < PHASE_EXECUTING AND f.way = '{}');
            IF v_first <> '{}' THEN
                PERFORM weft._add_status_rows(of_job, v_first, false, coalesce(v_actor, 'weft'), NULL, NULL, v_attempt.started_at);
                v_status := v_first[cardinality(v_first)];
            END IF;
        END IF;
        IF v_attempt.reason <> REASON_CANCELLED THEN
            v_why := left(concat_ws('; ', coalesce(nullif(v_attempt.message, ''), 'exit code ' || nullif(v_attempt.exit_code, 0),
                'signal ' || v_attempt.signal, (SELECT r.word FROM weft.attempt_reason r WHERE r.reason = v_attempt.reason)),
                CASE WHEN v_attempt.reason = REASON_LOST THEN 'the attempt is dated at its last heartbeat' END), 1024);
        END IF;
        -- One that was stopped beyond a limit, or is lost, leads along the path for that.
        IF v_attempt.reason IN (REASON_OVERDUE, REASON_LOST) THEN
            SELECT l.limits -> CASE WHEN v_attempt.reason = REASON_LOST
                OR v_attempt.message LIKE 'its worker has not named it for%' THEN 'lost' ELSE 'on_limit' END
            INTO v_path FROM weft.lifecycle l WHERE l.lifecycle_id = of_job.lifecycle_id AND l.limits IS NOT NULL;
        END IF;
        IF of_job.state IN (STATE_READY, STATE_BLOCKED) AND jsonb_array_length(v_path -> 'path') > 0 THEN
            PERFORM weft._walk_path(of_job, ARRAY(SELECT p.word FROM jsonb_array_elements_text(v_path -> 'path') WITH ORDINALITY p (word, n)
                WHERE of_job.state = STATE_READY OR NOT EXISTS (
                    SELECT FROM weft.lifecycle l JOIN weft.lifecycle_core c ON c.lifecycle_id = l.lifecycle_id AND c.state = STATE_READY
                    WHERE l.lifecycle_id = of_job.lifecycle_id AND c.status = array_position(l.statuses, p.word)) ORDER BY p.n),
                v_path ->> 'subtype', v_why);
            RETURN;
        END IF;
        SELECT e.* INTO v_exit FROM weft.lifecycle_exit e
        WHERE e.lifecycle_id = of_job.lifecycle_id AND v_attempt.exit_code BETWEEN e.first_code AND e.last_code;
    END IF;
    IF of_job.state = STATE_ERROR AND old_state <> STATE_RUNNING THEN
        SELECT left(c.message, 1024) INTO v_why FROM weft.job_change c
        WHERE c.batch_id = of_job.batch_id AND c.job_id = of_job.job_id AND c.to_state = STATE_ERROR ORDER BY c.change_id DESC LIMIT 1;
    ELSIF of_job.state = STATE_SUCCESS THEN  -- then its message leads it on
        v_sends := coalesce(v_exit.products, true) AND EXISTS (
            SELECT FROM weft.batch b JOIN weft.sink s ON s.sink_id = ANY (b.sink_id || b.more_sinks)
            WHERE b.batch_id = of_job.batch_id AND (CASE WHEN s.document ->> 'products' = 'true' THEN EXISTS (
                SELECT FROM weft.product p WHERE p.batch_id = of_job.batch_id AND p.job_id = of_job.job_id AND p.attempt = of_job.attempt)
            ELSE s.document ->> 'each' IS NULL OR EXISTS (
                SELECT FROM weft.job_file f WHERE f.batch_id = of_job.batch_id AND f.job_id = of_job.job_id
                    AND f.attempt = of_job.attempt AND f.message IS NOT NULL) END));
    END IF;
    SELECT m.way INTO v_way FROM weft.lifecycle_move m
    WHERE m.lifecycle_id = of_job.lifecycle_id AND m.state = of_job.state AND m.from_status = v_status
        AND (m.within = 0 AND of_job.state <> old_state OR m.within = 20 AND of_job.state = STATE_SUCCESS AND v_sends
            OR m.within = of_job.phase AND of_job.state = STATE_RUNNING
            OR m.within = -v_exit.status AND of_job.state = STATE_BLOCKED)
    ORDER BY m.within = 0, m.within DESC LIMIT 1;
    IF NOT FOUND OR v_way = '{}' THEN
        RETURN;
    END IF;
    PERFORM weft._add_status_rows(of_job, coalesce(v_way, ARRAY[v_status]), v_way IS NULL, coalesce(v_actor, 'weft'),
        CASE WHEN v_way IS NULL THEN 'not allowed' ELSE coalesce(v_exit.subtype, v_path ->> 'subtype') END,
        nullif(left(concat_ws('; ', CASE WHEN v_way IS NULL THEN (
            SELECT format('the job is %s, and its lifecycle allows no status of that', w.word)
            FROM weft.job_state w WHERE w.state = of_job.state) END, v_why), 1024), ''), coalesce(CASE WHEN of_job.state = STATE_RUNNING
            THEN CASE of_job.phase WHEN PHASE_ASSIGNED THEN of_job.claimed_at WHEN PHASE_EXECUTING THEN of_job.started_at END END,
            nullif(current_setting('weft.since', true), '')::timestamptz, clock_timestamp()));
END $$;
