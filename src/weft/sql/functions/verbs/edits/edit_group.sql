-- edit_group: change name and attributes of a group (group 0: the batch) by a JSON merge patch (RFC 7396).
-- Safe to repeat: yes, equal values are no change.
-- Locks: batch_row; group; as _rename_group (rows above); as _record_change. The batch's row for group 0,
--   else the group's.
-- Plan: by key.
-- Returns: whether anything changed.  Raises WF101, WF103, WF209 (name taken), WF231 (too many attributes),
--   WF232 (too many groups below).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.edit_group(
    tenant_id int,
    batch_id bigint,
    group_id int,
    patch jsonb,
    attributes_max int,
    groups_max int,
    actor text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    v_name text;
    v_old_name text;
    v_attributes jsonb;
    v_old_attributes jsonb;
BEGIN
    PERFORM weft._check_group(edit_group.batch_id, edit_group.group_id);
    IF edit_group.group_id = 0 THEN
        SELECT b.name, b.attributes
        INTO v_old_name, v_old_attributes
        FROM weft.batch b
        WHERE b.batch_id = edit_group.batch_id
        FOR NO KEY UPDATE;
    ELSE
        SELECT g.name, g.attributes
        INTO v_old_name, v_old_attributes
        FROM weft.job_group g
        WHERE g.batch_id = edit_group.batch_id AND g.group_id = edit_group.group_id
        FOR UPDATE;
    END IF;
    v_name := CASE WHEN patch ? 'name' THEN patch ->> 'name' ELSE v_old_name END;
    v_attributes := weft._merged(v_old_attributes, patch, attributes_max);
    IF v_name IS NOT DISTINCT FROM v_old_name AND v_attributes = v_old_attributes THEN
        RETURN false;
    END IF;
    IF edit_group.group_id = 0 THEN
        UPDATE weft.batch b
        SET name = v_name, attributes = v_attributes
        WHERE b.batch_id = edit_group.batch_id;
    ELSE
        IF v_name <> v_old_name THEN
            PERFORM weft._rename_group(edit_group.batch_id, edit_group.group_id, v_name, groups_max);
        END IF;
        UPDATE weft.job_group g
        SET attributes = v_attributes
        WHERE g.batch_id = edit_group.batch_id
            AND g.group_id = edit_group.group_id
            AND g.attributes <> v_attributes;
    END IF;
    PERFORM weft._record_change(
        edit_group.batch_id,
        edit_group.group_id,
        'edited',
        edit_group.actor,
        weft._patched(patch),
        edit_group.at
    );
    RETURN true;
END $$;
