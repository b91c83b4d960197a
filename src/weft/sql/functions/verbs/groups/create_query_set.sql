-- create_query_set: make a set that the driver fills with the existing jobs that match a query. The set is
--   invisible until it is complete.
-- Safe to repeat: yes with an idempotency key.
-- Locks: as create_set; as _create_operation.
-- Plan: by key.
-- Returns: the operation.  Raises as create_set, and WF201 (key used with another body).
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.create_query_set(
    tenant_id int,
    user_id int,
    batch_id bigint,
    name text,
    attributes jsonb,
    cancel_after int,
    callback text,
    query text,
    within_group int,
    groups_max int,
    sets_max int,
    trace_id text,
    idempotency_key text,
    digest bytea,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    v_id bigint;
    v_set int;
    v_last int;
BEGIN
    v_id := weft._find_operation(
        create_query_set.user_id, create_query_set.idempotency_key, create_query_set.digest
    );
    IF v_id IS NOT NULL THEN
        RETURN v_id;
    END IF;
    IF within_group IS NOT NULL THEN
        PERFORM weft._check_group(create_query_set.batch_id, within_group);
    END IF;
    SELECT s.group_id
    INTO v_set
    FROM weft.create_set(
        create_query_set.tenant_id, create_query_set.batch_id, create_query_set.name,
        create_query_set.attributes, create_query_set.cancel_after, create_query_set.callback, true,
        groups_max, create_query_set.at
    ) s;
    SELECT b.next_job - 1 INTO v_last FROM weft.batch b WHERE b.batch_id = create_query_set.batch_id;
    RETURN weft._create_operation(
        create_query_set.tenant_id, create_query_set.user_id, create_query_set.batch_id, 'fill_set',
        jsonb_build_object(
            'query', query, 'group_id', v_set, 'within_group', within_group, 'sets_max', sets_max
        ),
        v_last,
        create_query_set.trace_id,
        create_query_set.idempotency_key,
        create_query_set.digest,
        create_query_set.at
    );
END $$;
