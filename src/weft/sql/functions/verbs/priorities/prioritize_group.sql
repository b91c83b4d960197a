-- prioritize_group: start to change the priority of all jobs in a group and the groups below it (group 0: the
--   whole batch). The other fields of the patch are changed at once, or nothing is.
-- Safe to repeat: yes, as a new operation that finds nothing to do.
-- Locks: as edit_group; as _create_operation; as _record_change. Only if the patch has more than the
--   priority.
-- Plan: by key.
-- One insert, whatever the number of jobs.
-- Returns: the operation.  Raises as edit_group.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.prioritize_group(
    tenant_id int,
    user_id int,
    batch_id bigint,
    group_id int,
    patch jsonb,
    attributes_max int,
    groups_max int,
    actor text,
    trace_id text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_rest jsonb := patch - 'priority';
    v_last int;
BEGIN
    PERFORM weft._check_group(prioritize_group.batch_id, prioritize_group.group_id);
    IF v_rest <> '{}' THEN
        PERFORM weft.edit_group(
            prioritize_group.tenant_id,
            prioritize_group.batch_id,
            prioritize_group.group_id,
            v_rest,
            attributes_max,
            groups_max,
            prioritize_group.actor,
            prioritize_group.at
        );
    END IF;
    PERFORM weft._record_change(
        prioritize_group.batch_id,
        prioritize_group.group_id,
        'prioritized',
        prioritize_group.actor,
        format('priority is %s', patch -> 'priority'),
        prioritize_group.at
    );
    SELECT b.next_job - 1 INTO v_last FROM weft.batch b WHERE b.batch_id = prioritize_group.batch_id;
    RETURN weft._create_operation(
        prioritize_group.tenant_id, prioritize_group.user_id, prioritize_group.batch_id, 'set_priority',
        jsonb_build_object('group_id', prioritize_group.group_id, 'priority', patch -> 'priority'),
        v_last, prioritize_group.trace_id, NULL, NULL, prioritize_group.at
    );
END $$;
