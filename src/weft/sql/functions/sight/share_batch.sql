-- share_batch: let a user of the tenant see a batch and do with it what a PERMISSION says, instead of what they could; NULL: no longer.
-- Called by: Store.share_batch (api).   Safe to repeat: yes.
-- Locks: user (shared); grant; as _record_change.   Plan: by key; user by name.
-- Streams of a user who may do less end. The owner may always do all.
-- Returns: the user's permission now, as list_permissions.  Raises WF101, WF118 (no such user), WF130.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.share_batch(tenant_id int, batch_id bigint, of_user text, permission int, actor text,
    at timestamptz DEFAULT clock_timestamp()) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_user weft.tenant_user; v_old int;
BEGIN
    PERFORM weft._as_tenant(share_batch.tenant_id);
    PERFORM weft._check_batch(share_batch.batch_id);
    -- Locked, so that nobody gets a permission while they are removed.
    SELECT u.* INTO v_user FROM weft.tenant_user u
    WHERE u.tenant_id = share_batch.tenant_id AND lower(u.name) = lower(of_user) AND u.removed_at IS NULL FOR SHARE;
    IF NOT FOUND THEN
        PERFORM weft._no_user(of_user);
    END IF;
    IF EXISTS (SELECT FROM weft.batch b WHERE b.batch_id = share_batch.batch_id AND b.user_id = v_user.user_id) THEN
        RETURN weft._permission_document(share_batch.batch_id, v_user.user_id);
    END IF;
    SELECT g.permission INTO v_old FROM weft.batch_grant g
    WHERE g.batch_id = share_batch.batch_id AND g.user_id = v_user.user_id FOR UPDATE;
    IF share_batch.permission IS NULL THEN
        DELETE FROM weft.batch_grant g WHERE g.batch_id = share_batch.batch_id AND g.user_id = v_user.user_id;
    ELSE
        INSERT INTO weft.batch_grant AS g (batch_id, user_id, tenant_id, permission, granted_by, granted_at)
        VALUES (share_batch.batch_id, v_user.user_id, share_batch.tenant_id, share_batch.permission, share_batch.actor, share_batch.at)
        ON CONFLICT ON CONSTRAINT batch_grant_pkey DO UPDATE SET permission = excluded.permission, granted_by = excluded.granted_by,
            granted_at = excluded.granted_at WHERE g.permission <> excluded.permission;
    END IF;
    IF v_old > coalesce(share_batch.permission, 0) THEN
        PERFORM weft._tell_callers(v_user.user_id);
    END IF;
    IF v_old IS DISTINCT FROM share_batch.permission THEN
        PERFORM weft._record_change(share_batch.batch_id, 0, CASE WHEN share_batch.permission IS NULL THEN 'unshared' ELSE 'shared' END,
            share_batch.actor, concat_ws(': ', v_user.name, weft._permission_word(share_batch.permission)), share_batch.at);
    END IF;
    RETURN weft._permission_document(share_batch.batch_id, v_user.user_id);
END $$;
