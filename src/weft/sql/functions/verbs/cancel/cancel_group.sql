-- cancel_group: cancel a group with all below it; 0 is the batch. One insert: the sweep and the workers do
--   the rest.
-- Safe to repeat: yes.
-- Returns: whether this call cancelled it.
-- Locks: as _cancel_group; as _announce.
-- Raises WF101, WF103.
-- Owner: weft_tenant.
-- Granted to: weft_api, weft_system.
CREATE OR REPLACE FUNCTION weft.cancel_group(
    tenant_id int,
    batch_id bigint,
    group_id int,
    actor text,
    force boolean,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_is_new boolean;
BEGIN
    PERFORM weft._check_group(cancel_group.batch_id, cancel_group.group_id);
    v_is_new := weft._cancel_group(
        cancel_group.batch_id, cancel_group.group_id, cancel_group.actor, cancel_group.force, cancel_group.at
    );
    PERFORM weft._announce();
    RETURN v_is_new;
END $$;
