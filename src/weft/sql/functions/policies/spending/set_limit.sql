-- set_limit: change the limit of a billing project, a user, a batch or a group, in one measure.
-- Safe to repeat: yes.
-- Locks: project (if it is one's); as _set_limit.
-- Plan: by key; projects and users by name.
-- A removed user has limits as well: their batches may wait at one.
-- kind: project, user (of_name), or group (of_batch_id with the number or the path of a group).
-- patch: as _set_limit.
-- Returns: its document.
-- Raises WF101, WF103, WF105, WF118, WF140.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.set_limit(
    tenant_id int,
    kind text,
    of_name text,
    of_batch_id bigint,
    group_id int,
    path text,
    measure text,
    patch jsonb
) RETURNS jsonb LANGUAGE plpgsql AS $$
DECLARE
    v_limit weft.spend_limit;
    v_project weft.billing_project;
    v_id int;
BEGIN
    v_limit.tenant_id := set_limit.tenant_id;
    v_limit.measure := set_limit.measure;
    IF set_limit.kind = 'project' THEN
        v_project := weft._lock_project(set_limit.tenant_id, of_name);
        v_limit.project_id := v_project.project_id;
    ELSIF set_limit.kind = 'user' THEN
        SELECT u.user_id
        INTO v_limit.user_id
        FROM weft.tenant_user u
        WHERE u.tenant_id = set_limit.tenant_id AND u.name_key = weft._name_key(of_name);
        IF NOT FOUND THEN
            PERFORM weft._no_user(of_name);
        END IF;
    ELSE
        v_limit.batch_id := of_batch_id;
        v_limit.group_id := weft._find_group(of_batch_id, set_limit.group_id, set_limit.path);
    END IF;
    v_id := weft._set_limit(v_limit, set_limit.patch);
    RETURN (SELECT d FROM weft._limit_documents(ARRAY[v_id]) d);
END $$;
