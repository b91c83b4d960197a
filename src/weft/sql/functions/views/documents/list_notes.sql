-- list_notes: what a job says about itself, the newest first; pictures without their bytes, unless their
--   title is asked for.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101, WF102.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_notes(tenant_id int, batch_id bigint, job_id int, of_title text)
RETURNS TABLE (title text, kind text, attempt smallint, told_at timestamptz, n_bytes int, body bytea)
LANGUAGE plpgsql PLAN_ONCE AS $$
BEGIN
    PERFORM weft._check_job(list_notes.batch_id, list_notes.job_id);
    RETURN QUERY
    SELECT
        n.title,
        n.kind,
        n.attempt,
        n.told_at,
        octet_length(n.body),
        CASE WHEN n.kind <> 'picture' OR n.title = of_title THEN n.body END
    FROM weft.job_note n
    WHERE n.batch_id = list_notes.batch_id
        AND n.job_id = list_notes.job_id
        AND (of_title IS NULL OR n.title = of_title)
    ORDER BY n.told_at DESC, n.title;
END $$;
