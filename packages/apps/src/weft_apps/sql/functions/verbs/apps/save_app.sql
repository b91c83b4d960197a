-- save_app: make a packed folder the content of an application. The same content as before changes nothing.
-- Safe to repeat: yes.
-- Locks: saved_app; app (of one name).
-- Plan: by key, and the applications of the tenant.
-- for_user: the name of who may run it; NULL: everybody.
-- Returns: its document, and whether it is new or other content.
-- Raises: WF118 (no such user), WF162 (too many), WF261 (parts are missing).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.save_app(
    tenant_id int,
    user_id int,
    of_name text,
    for_user text,
    of_digest bytea,
    of_bytes bigint,
    of_description jsonb,
    part_bytes int,
    apps_max int,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_for int;
    v_old weft.app_revision;
    v_new weft.app_revision;
BEGIN
    PERFORM pg_advisory_xact_lock(7710, save_app.tenant_id);
    v_for := weft._app_user(save_app.tenant_id, save_app.for_user);
    PERFORM weft._sweep_apps(save_app.tenant_id, save_app.at);
    IF (
        SELECT count(*)
        FROM weft.app_part p
        WHERE p.tenant_id = save_app.tenant_id AND p.digest = of_digest AND p.n_bytes = of_bytes
    ) <> (of_bytes + part_bytes - 1) / part_bytes THEN
        PERFORM weft._fail(
            'WF261',
            'parts of the folder are missing',
            format('It has %s bytes.', of_bytes),
            'Send all parts first.'
        );
    END IF;
    SELECT r.*
    INTO v_old
    FROM weft.app_revision r
    WHERE r.tenant_id = save_app.tenant_id
        AND r.name = of_name
        AND r.for_user = v_for
        AND r.removed_at IS NULL
    FOR NO KEY UPDATE;
    IF v_old.digest = of_digest THEN
        RETURN weft._app_document(v_old) || '{"changed": false}';
    END IF;
    IF (SELECT count(*) FROM weft.app_revision r WHERE r.tenant_id = save_app.tenant_id) >= apps_max THEN
        PERFORM weft._fail(
            'WF162',
            'the tenant has too many applications',
            format(
                'It may have %s (apps_max), with all their contents '
                    'that jobs run.',
                apps_max
            ),
            'Remove some with `weft app rm NAME`, or delete batches that ran former contents.'
        );
    END IF;
    UPDATE weft.app_revision r SET removed_at = save_app.at WHERE r.revision_id = v_old.revision_id;
    INSERT INTO weft.app_revision (
        tenant_id, name, for_user, revision, digest, n_bytes, description, added_by, added_at
    )
    SELECT
        save_app.tenant_id,
        of_name,
        v_for,
        coalesce(max(r.revision), 0) + 1,
        of_digest, of_bytes, of_description, save_app.user_id, save_app.at
    FROM weft.app_revision r
    WHERE r.tenant_id = save_app.tenant_id AND r.name = of_name AND r.for_user = v_for
    RETURNING *
    INTO v_new;
    RETURN weft._app_document(v_new) || '{"changed": true}';
END $$;
