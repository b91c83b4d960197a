-- delete_project: take a closed billing project from all lists. What it paid stays on the bills, its name
--   stays taken.
-- Safe to repeat: a repeat raises WF105.
-- The members may charge it no more, so they see its batches no more; their streams end. Nobody can raise its
--   limits any more, so what
-- comes to one is cancelled: it would wait for ever.
-- Locks: as _lock_project; project; member; spend_limit.
-- Plan: project by name; held batches by the index of their limit.
-- Raises WF105, WF124 (it is open, or `default`, or batches of it wait for its limit).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.delete_project(
    tenant_id int, of_name text, at timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_project weft.billing_project;
    v_user int;
BEGIN
    v_project := weft._lock_project(delete_project.tenant_id, of_name);
    IF v_project.name = 'default' THEN
        PERFORM weft._fail(
            'WF124',
            'billing project "default" cannot be deleted',
            'Batches that name no project belong to it.',
            'Close it instead, with `weft billing project close`.'
        );
    END IF;
    IF v_project.closed_at IS NULL THEN
        PERFORM weft._fail(
            'WF124',
            format('billing project "%s" is open', v_project.name),
            'Only closed projects can be deleted.',
            'Close it first, with `weft billing project close`.'
        );
    END IF;
    IF EXISTS (
        SELECT
        FROM weft.spend_limit l
        JOIN weft.group_hold h ON h.limit_id = l.limit_id
        LEFT JOIN weft.group_count c ON c.batch_id = h.batch_id AND c.group_id = 0
        WHERE l.project_id = v_project.project_id
            AND h.released_at IS NULL
            AND NOT h.admits
            AND c.complete IS NOT TRUE
    ) THEN
        PERFORM weft._fail(
            'WF124',
            format('billing project "%s" is paused at its limit', v_project.name),
            'Its batches wait until its limit is raised.',
            'Raise the limit first, with `weft billing project limit`, or cancel the batches.'
        );
    END IF;
    UPDATE weft.billing_project p
    SET deleted_at = delete_project.at
    WHERE p.project_id = v_project.project_id;
    FOR v_user IN
        DELETE FROM weft.billing_member m WHERE m.project_id = v_project.project_id RETURNING m.user_id
    LOOP
        PERFORM weft._tell_callers(v_user);
    END LOOP;
    UPDATE weft.spend_limit l
    SET on_limit = 'cancel', version = l.version + 1
    WHERE l.project_id = v_project.project_id AND l.on_limit = 'pause';
    IF FOUND THEN
        PERFORM pg_notify('driver', 'spending');
    END IF;
END $$;
