-- _share: give a user of the tenant a PERMISSION on a batch, or on one job of it, instead of the one that
--   they have; NULL: none.
-- Safe to repeat: yes.
-- Locks: user (shared); grant; as _record_change; as _announce (instead).
-- Plan: by key; user by name.
-- Streams of a user who may do less end. The owner may always do all.
-- of_job_id: 0: the whole batch. said: what a door's client called the permission, kept in what is recorded,
--   also of none; NULL: nothing.
-- Returns: the user's permission now.  Raises WF118.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._share(
    of_tenant_id int,
    of_batch_id bigint,
    of_job_id int,
    of_user text,
    permission int,
    actor text,
    at timestamptz,
    said text DEFAULT NULL
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_user weft.tenant_user;
    v_old int;
    v_kind text;
    v_message text;
BEGIN
    -- Locked, so that nobody gets a permission while they are removed.
    SELECT u.*
    INTO v_user
    FROM weft.tenant_user u
    WHERE u.tenant_id = of_tenant_id AND u.name_key = weft._name_key(of_user) AND u.removed_at IS NULL
    FOR SHARE;
    IF NOT FOUND THEN
        PERFORM weft._no_user(of_user);
    END IF;
    IF EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = of_batch_id AND b.user_id = v_user.user_id) THEN
        RETURN weft._permission_document(of_batch_id, of_job_id, v_user.user_id);
    END IF;
    SELECT g.permission
    INTO v_old
    FROM weft.batch_grant g
    WHERE g.batch_id = of_batch_id AND g.job_id = of_job_id AND g.user_id = v_user.user_id
    FOR UPDATE;
    IF _share.permission IS NULL THEN
        DELETE FROM weft.batch_grant g
        WHERE g.batch_id = of_batch_id AND g.job_id = of_job_id AND g.user_id = v_user.user_id;
    ELSE
        INSERT INTO weft.batch_grant AS g (
            batch_id, job_id, user_id, tenant_id, permission, granted_by, granted_at
        )
        VALUES (
            of_batch_id, of_job_id, v_user.user_id, of_tenant_id, _share.permission, _share.actor, _share.at
        )
        ON CONFLICT ON CONSTRAINT batch_grant_pkey DO UPDATE
        SET
            permission = excluded.permission,
            granted_by = excluded.granted_by,
            granted_at = excluded.granted_at
        WHERE g.permission <> excluded.permission;
    END IF;
    IF v_old > coalesce(_share.permission, 0) THEN
        PERFORM weft._tell_callers(v_user.user_id);
    END IF;
    v_kind := CASE
        WHEN _share.permission IS NULL AND coalesce(_share.said, 'NONE') = 'NONE' THEN 'unshared'
        ELSE 'shared'
    END;
    v_message := concat(
        v_user.name,
        ': ' || coalesce(weft._permission_word(permission), 'none' || left(said, 0)),
        ' (' || said || ')'
    );
    IF v_old IS DISTINCT FROM _share.permission
        OR (
            _share.said IS NOT NULL
                AND v_message IS DISTINCT FROM (
                    SELECT c.message
                    FROM weft.group_change c
                    WHERE c.batch_id = of_batch_id
                        AND c.group_id = 0
                        AND c.kind IN ('shared', 'unshared')
                        AND starts_with(c.message, v_user.name || ': ')
                    ORDER BY c.change_id DESC
                    LIMIT 1
                )
        )
    THEN
        IF of_job_id = 0 THEN
            PERFORM weft._record_change(of_batch_id, 0, v_kind, _share.actor, v_message, _share.at);
        ELSE
            INSERT INTO weft.job_change (
                batch_id, job_id, tenant_id, at, from_state, to_state, actor, subtype, message
            )
            SELECT
                of_batch_id, of_job_id, j.tenant_id, _share.at, j.state, j.state, _share.actor, v_kind,
                v_message
            FROM weft.job j
            WHERE j.batch_id = of_batch_id AND j.job_id = of_job_id;
            INSERT INTO weft.event (at, tenant_id, batch_id, kind, jobs)
            VALUES (_share.at, of_tenant_id, of_batch_id, 'jobs.' || v_kind, ARRAY[of_job_id]);
            PERFORM weft._announce();
        END IF;
    END IF;
    RETURN weft._permission_document(of_batch_id, of_job_id, v_user.user_id);
END $$;
