-- remove_user: take a user out of a tenant: every api refuses their tokens at once, their schedules pause,
--   their secrets and saved queries are gone. What they submitted goes on, until the caller ends it.
-- Safe to repeat: yes.
-- Locks: as _lock_users; as _user_to_change; user; token; saved_query; member; grant; schedule; schedule_run;
--   secret; repeat (nobody else).
-- Plan: tenant by key; users of the tenant, the rest of the user by index.
-- by_user_id, by_role: the caller.
-- may_give: as in _user_to_change.
-- Returns: the user's document, with what
--   becomes of their batches where the tenant says it (on_user_removal).  Raises WF118, WF120, WF121.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.remove_user(
    tenant_id int,
    by_user_id int,
    by_role text,
    of_name text,
    may_give text[],
    at timestamptz DEFAULT clock_timestamp()
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_user weft.tenant_user;
    v_document jsonb;
BEGIN
    PERFORM weft._lock_users(remove_user.tenant_id, by_user_id, by_role);
    v_user := weft._user_to_change(remove_user.tenant_id, of_name, NULL, may_give);
    v_document := weft._user_document(v_user) || (
        SELECT jsonb_build_object('on_user_removal', t.on_user_removal)
        FROM weft.tenant t
        WHERE t.tenant_id = remove_user.tenant_id
    );
    IF v_user.removed_at IS NOT NULL THEN
        RETURN v_document;
    END IF;
    UPDATE weft.tenant_user u SET removed_at = remove_user.at WHERE u.user_id = v_user.user_id;
    PERFORM weft._tell_callers(v_user.user_id);
    DELETE FROM weft.token t WHERE t.user_id = v_user.user_id;
    DELETE FROM weft.saved_query s WHERE s.user_id = v_user.user_id;
    DELETE FROM weft.billing_member m WHERE m.user_id = v_user.user_id;
    DELETE FROM weft.batch_grant g WHERE g.user_id = v_user.user_id;
    UPDATE weft.schedule s
    SET paused_at = remove_user.at, pause_reason = 'user', next_at = NULL
    WHERE s.user_id = v_user.user_id AND s.paused_at IS NULL;
    DELETE FROM weft.schedule_run r
    USING weft.schedule s
    WHERE s.user_id = v_user.user_id AND r.schedule_id = s.schedule_id AND r.ended_at IS NULL;
    DELETE FROM weft.secret s WHERE s.user_id = v_user.user_id;
    DELETE FROM weft.answered_request r WHERE r.user_id = v_user.user_id;
    PERFORM pg_notify('driver', 'schedules');
    RETURN v_document;
END $$;
