-- _add_set: the rows of a new set group. Its name must be free.
-- Safe to repeat: no.
-- Locks: none but its rows. It waits for an open insert of the same name.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._add_set(
    tenant_id int,
    batch_id bigint,
    group_id int,
    update_id int,
    name text,
    attributes jsonb,
    cancel_after int,
    callback text,
    hidden boolean,
    at timestamptz
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    v_n int;
BEGIN
    INSERT INTO weft.job_group (
        batch_id, group_id, tenant_id, update_id, name, depth, is_set, hidden, attributes, callback,
        cancel_after_n_failures, created_at
    )
    VALUES (
        _add_set.batch_id, _add_set.group_id, _add_set.tenant_id, _add_set.update_id, _add_set.name, 0, true,
        _add_set.hidden,
        coalesce(_add_set.attributes, '{}'),
        _add_set.callback,
        _add_set.cancel_after,
        _add_set.at
    )
    ON CONFLICT DO NOTHING;
    GET DIAGNOSTICS v_n = ROW_COUNT;
    IF v_n = 0 THEN
        PERFORM weft._fail(
            'WF209',
            format('set %s of batch b%s already exists', _add_set.name, _add_set.batch_id),
            'Names of sets are unique within a batch.',
            'Choose another name, or put the jobs into the existing set.'
        );
    END IF;
    INSERT INTO weft.group_ancestor (batch_id, group_id, ancestor_id, tenant_id)
    VALUES (_add_set.batch_id, _add_set.group_id, _add_set.group_id, _add_set.tenant_id);
    IF _add_set.cancel_after IS NOT NULL THEN
        INSERT INTO weft.failure_count (batch_id, group_id, tenant_id, n_failures_max)
        VALUES (_add_set.batch_id, _add_set.group_id, _add_set.tenant_id, _add_set.cancel_after);
    END IF;
END $$;
