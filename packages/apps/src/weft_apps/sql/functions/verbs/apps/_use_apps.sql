-- _use_apps: note which contents of applications the jobs of a bunch run.
-- Safe to repeat: yes.
-- Locks: none but its rows.
-- Plan: by key.
-- fields: as add_jobs takes them.
-- Raises WF161 (a content is gone).
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._use_apps(bunch weft.bunch, fields jsonb[]) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_ids bigint[] := ARRAY(
        SELECT DISTINCT (f ->> 'app_revision')::bigint FROM unnest(fields) f WHERE f ? 'app_revision'
    );
BEGIN
    IF cardinality(v_ids) <> (
        SELECT count(*)
        FROM weft.app_revision r
        WHERE r.revision_id = ANY (v_ids) AND r.tenant_id = bunch.tenant_id
    ) THEN
        PERFORM weft._fail(
            'WF161', 'an application is gone', 'Its content was removed meanwhile.', 'Submit the jobs again.'
        );
    END IF;
    INSERT INTO weft.app_use (batch_id, revision_id, tenant_id)
    SELECT bunch.batch_id, i, bunch.tenant_id
    FROM unnest(v_ids) i
    ON CONFLICT DO NOTHING;
END $$;
