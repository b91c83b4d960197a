-- answer_job: end a job that waits for a person or an event: well, if it is approved, with the answer; else
--   as an error with the note.
-- All links that answer it end with that.
-- Safe to repeat: yes, by the same person.
-- Plan: by key; tokens by name.
-- Locks: token; as _lock_jobs; as _end_without_attempt (rows above).
-- Raises WF101, WF102, WF238 (it waits for nobody, or has ended).
-- Returns: the state of the job.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.answer_job(
    tenant_id int,
    batch_id bigint,
    job_id int,
    approve boolean,
    note text,
    answer jsonb,
    actor text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    v_job record;
    v_name text := format('job b%s.j%s', answer_job.batch_id, answer_job.job_id);
    v_hint text := format('`weft status b%s.j%s` says more.', answer_job.batch_id, answer_job.job_id);
    v_kind text := CASE WHEN approve THEN 'answered' ELSE 'refused' END;
    v_message text := coalesce(
        nullif(answer_job.note, ''), CASE WHEN approve THEN 'approved' ELSE 'refused' END
    );
    v_answer jsonb := jsonb_build_object(
        'values', answer_job.answer, 'note', answer_job.note, 'by', answer_job.actor
    );
BEGIN
    DELETE FROM weft.token t
    WHERE t.kind = 'answer' AND t.name = format('answer b%s.j%s', answer_job.batch_id, answer_job.job_id);
    PERFORM weft._lock_jobs(answer_job.batch_id, ARRAY[answer_job.job_id]);
    SELECT j.state, s.word, l.rare_fields #>> '{wait,for}' AS kind, l.rare_fields -> 'answer' AS answer, c.*
    INTO v_job
    FROM weft.job j
    JOIN weft.job_state s
    USING (state)
    LEFT JOIN weft.job_label l ON l.batch_id = j.batch_id AND l.job_id = j.job_id
    LEFT JOIN LATERAL (
        SELECT x.actor, x.at, x.subtype, x.message
        FROM weft.job_change x
        WHERE x.batch_id = j.batch_id AND x.job_id = j.job_id AND x.to_state = j.state
        ORDER BY x.change_id DESC
        LIMIT 1
    ) c ON true
    WHERE j.batch_id = answer_job.batch_id AND j.job_id = answer_job.job_id;
    IF v_job.kind IS NULL OR v_job.kind = 'date' THEN
        PERFORM weft._fail(
            'WF238',
            v_name || ' waits for no answer',
            'Only a job with `wait` for an approval or an event does.',
            v_hint
        );
    ELSIF v_job.state < STATE_SUCCESS AND v_job.state <> STATE_READY THEN
        PERFORM weft._fail(
            'WF238', v_name || ' waits for no answer yet', 'Its parents have not ended.', v_hint
        );
    ELSIF v_job.state >= STATE_SUCCESS
        AND (
            (v_job.actor, v_job.subtype, v_job.message) IS DISTINCT FROM (answer_job.actor, v_kind, v_message)
                OR approve AND v_job.answer - 'at' IS DISTINCT FROM v_answer
        )
    THEN
        PERFORM weft._fail(
            'WF238',
            v_name || ' waits for no answer any more',
            format(
                'It ended as %s%s.',
                v_job.word,
                ', by ' || v_job.actor
                    || to_char(v_job.at AT TIME ZONE 'UTC', '" at "YYYY-MM-DD HH24:MI:SS "UTC"')
            ),
            v_hint
        );
    END IF;
    PERFORM weft._end_without_attempt(
        answer_job.batch_id,
        ARRAY[answer_job.job_id],
        answer_job.at,
        v_kind,
        v_message,
        answer_job.actor,
        CASE
            WHEN approve
                THEN jsonb_build_object('answer', v_answer || jsonb_build_object('at', answer_job.at))
        END
    );
    RETURN CASE WHEN approve THEN 'success' ELSE 'error' END;
END $$;
