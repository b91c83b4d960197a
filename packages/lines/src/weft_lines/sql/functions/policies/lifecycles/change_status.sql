-- change_status: set the status of a job, if its lifecycle allows that after the present one; the core
--   goes along where a person may move it.
-- Safe to repeat: as a request with a key (first_answer); else it is a change from the new status.
-- Locks: as _before_retry; as _lock_jobs; as _walk_core (the same rows); as cancel_jobs (instead); as
--   _add_status_rows.
-- Plan: by key.
-- Returns: batch_id, job_id, status, state.
-- Raises WF101, WF102, WF242 (not allowed now), WF243 (no such status), WF244 (no lifecycle), and, where the
--   core would run again, WF105, WF204, WF234, WF245. Then nothing is changed.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.change_status(
    tenant_id int,
    user_id int,
    batch_id bigint,
    job_id int,
    status text,
    message text,
    actor text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_job weft.job;
    v_words text[];
    v_old smallint;
    v_new smallint;
    v_states smallint[];
BEGIN
    PERFORM weft._before_retry(change_status.tenant_id, change_status.batch_id);
    PERFORM weft._lock_jobs(change_status.batch_id, ARRAY[change_status.job_id]);
    SELECT j.*
    INTO v_job
    FROM weft.job j
    WHERE j.batch_id = change_status.batch_id AND j.job_id = change_status.job_id;
    SELECT l.statuses, s.status
    INTO v_words, v_old
    FROM weft.lifecycle l, weft.job_status s
    WHERE l.lifecycle_id = v_job.lifecycle_id AND s.batch_id = v_job.batch_id AND s.job_id = v_job.job_id;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF244',
            format('job b%s.j%s has no status', v_job.batch_id, v_job.job_id),
            'Its batch was submitted without a lifecycle.',
            'Name one in the field `lifecycle` of the batch.'
        );
    END IF;
    v_new := array_position(v_words, change_status.status);
    IF v_new IS NULL THEN
        PERFORM weft._fail(
            'WF243',
            format('there is no status "%s"', left(change_status.status, 64)),
            format(
                'The lifecycle of job b%s.j%s has %s.',
                v_job.batch_id,
                v_job.job_id,
                array_to_string(v_words, ', ')
            ),
            'Use one of these words.'
        );
    ELSIF NOT EXISTS (
        SELECT
        FROM weft.lifecycle_edge e
        WHERE e.lifecycle_id = v_job.lifecycle_id AND e.from_status = v_old AND e.to_status = v_new
    ) THEN
        PERFORM weft._fail(
            'WF242',
            format(
                'job b%s.j%s cannot go from "%s" to "%s"',
                v_job.batch_id,
                v_job.job_id,
                v_words[v_old],
                v_words[v_new]
            ),
            format(
                'From "%s" its lifecycle allows %s.',
                v_words[v_old],
                (
                    SELECT coalesce(
                        string_agg(format('"%s"', v_words[e.to_status]), ', ' ORDER BY e.to_status), 'nothing'
                    )
                    FROM weft.lifecycle_edge e
                    WHERE e.lifecycle_id = v_job.lifecycle_id AND e.from_status = v_old
                )
            ),
            'Set one of these.'
        );
    END IF;
    v_states := ARRAY(
        SELECT c.state
        FROM weft.lifecycle_core c
        WHERE c.lifecycle_id = v_job.lifecycle_id AND c.status = v_new
    );
    -- After a success statuses leave the core; before it, moves by this call write nothing of their own.
    IF v_states <> '{}' AND v_job.state <> STATE_SUCCESS THEN
        IF v_states && ARRAY[STATE_PENDING, STATE_READY]::smallint[] AND v_job.state > STATE_SUCCESS THEN
            PERFORM weft._check_spends(v_job.batch_id, change_status.user_id);
            PERFORM weft._check_retried(v_job.batch_id, ARRAY[v_job.job_id]);
        END IF;
        PERFORM set_config('weft.walks', 'on', true);
        IF STATE_CANCELLED = ANY (v_states) AND v_job.state < STATE_SUCCESS THEN
            PERFORM weft.cancel_jobs(
                change_status.tenant_id,
                v_job.batch_id,
                ARRAY[v_job.job_id],
                change_status.actor,
                change_status.at
            );
        ELSE
            PERFORM weft._walk_core(
                v_job, v_states, change_status.actor, change_status.message, change_status.at
            );
        END IF;
        PERFORM set_config('weft.walks', 'off', true);
        SELECT j.*
        INTO v_job
        FROM weft.job j
        WHERE j.batch_id = change_status.batch_id AND j.job_id = change_status.job_id;
    END IF;
    PERFORM weft._add_status_rows(
        v_job, ARRAY[v_new], false, change_status.actor, NULL, change_status.message, clock_timestamp()
    );
    RETURN jsonb_build_object(
        'batch_id', v_job.batch_id,
        'job_id', v_job.job_id,
        'status', v_words[v_new],
        'state', (SELECT w.word FROM weft.job_state w WHERE w.state = v_job.state)
    );
END $$;
