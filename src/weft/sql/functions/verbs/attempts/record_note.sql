-- record_note: keep what a live attempt says about its job, instead of what was said under this title; of a
--   job the newest 16 stay.
-- Safe to repeat: yes, what is the same keeps its date.
-- Locks: job.
-- Plan: by key; no more are counted than a batch may have; as _at_note.
-- Its bytes count as stored, as output does.
-- Returns: whether this worker has the attempt. What is too long, what is one too many in its batch, and what
--   exceeds a quota of bytes is passed over.
-- Owner: weft_system.
-- Granted to: weft_worker.
CREATE OR REPLACE FUNCTION weft.record_note(
    incarnation_id int, batch_id bigint, job_id int, attempt int, title text, kind text, body bytea
) RETURNS boolean LANGUAGE plpgsql PLAN_BY_KEY PLAN_ONCE AS $$
DECLARE
    v_tenant int;
    v_n int;
    v_old record;
    v_more bigint;
BEGIN
    SELECT j.tenant_id
    INTO v_tenant
    FROM weft.job j
    WHERE j.batch_id = record_note.batch_id
        AND j.job_id = record_note.job_id
        AND j.attempt = record_note.attempt
        AND j.state = STATE_RUNNING
        AND j.incarnation_id = record_note.incarnation_id
    FOR NO KEY UPDATE;
    IF NOT FOUND THEN
        RETURN false;
    END IF;
    SELECT count(*)
    INTO v_n
    FROM (SELECT FROM weft.job_note n WHERE n.batch_id = record_note.batch_id LIMIT SETTING_BATCH_NOTES_MAX)
        x;
    -- A worker elsewhere may send anything: no title steers a terminal, no link runs a script, no picture
    -- fills a browser.
    IF length(record_note.title) NOT BETWEEN 1 AND 60
        OR record_note.title ~ '[[:cntrl:]]'
        OR record_note.kind = 'link' AND encode(record_note.body, 'escape') !~ '^(https?://|mailto:)[!-~]+$'
        OR record_note.kind = 'picture'
            AND (
                substr(record_note.body, 1, 16) <> '\x89504e470d0a1a0a0000000d49484452'::bytea
                    OR greatest(substr(record_note.body, 17, 4), substr(record_note.body, 21, 4)) >
                        '\x00001000'::bytea
            )
        OR record_note.kind NOT IN ('markdown', 'text', 'table', 'picture', 'link')
        OR octet_length(record_note.body) > (CASE record_note.kind WHEN 'picture' THEN 1048576 ELSE 65536 END)
        OR v_n >= SETTING_BATCH_NOTES_MAX
            AND NOT EXISTS (
                SELECT
                FROM weft.job_note n
                WHERE n.batch_id = record_note.batch_id
                    AND n.job_id = record_note.job_id
                    AND n.title = record_note.title
            )
    THEN
        RETURN true;
    END IF;
    SELECT n.attempt, n.kind, n.body
    INTO v_old
    FROM weft.job_note n
    WHERE n.batch_id = record_note.batch_id AND n.job_id = record_note.job_id AND n.title = record_note.title
    FOR UPDATE;
    IF FOUND
        AND (v_old.attempt, v_old.kind, v_old.body)
            IS NOT DISTINCT FROM (record_note.attempt, record_note.kind, record_note.body)
    THEN
        RETURN true;
    END IF;
    v_more := octet_length(record_note.body) - coalesce(octet_length(v_old.body), 0);
    IF v_more > 0 AND NOT weft._at_note(record_note.batch_id, v_more) THEN
        RETURN true;
    END IF;
    INSERT INTO weft.job_note (batch_id, job_id, title, tenant_id, attempt, kind, told_at, body)
    VALUES (
        record_note.batch_id,
        record_note.job_id,
        record_note.title,
        v_tenant,
        record_note.attempt,
        record_note.kind,
        clock_timestamp(),
        record_note.body
    )
    ON CONFLICT ON CONSTRAINT job_note_pkey DO UPDATE
    SET attempt = excluded.attempt, kind = excluded.kind, told_at = excluded.told_at, body = excluded.body;
    WITH gone AS (
        DELETE FROM weft.job_note n
        WHERE n.batch_id = record_note.batch_id
            AND n.job_id = record_note.job_id
            AND n.title IN (
                SELECT x.title
                FROM weft.job_note x
                WHERE x.batch_id = record_note.batch_id AND x.job_id = record_note.job_id
                ORDER BY x.told_at DESC, x.title
                OFFSET 16
            )
        RETURNING octet_length(n.body) AS n_bytes
    )
    INSERT INTO weft.job_delta (tenant_id, batch_id, group_id, shape_id, pool_id, stored_bytes)
    SELECT v_tenant, record_note.batch_id, 0, 0, 0, x.n_bytes
    FROM (SELECT v_more - coalesce(sum(g.n_bytes), 0) AS n_bytes FROM gone g) x
    WHERE x.n_bytes <> 0;
    RETURN true;
END $$;
