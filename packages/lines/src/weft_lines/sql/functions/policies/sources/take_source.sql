-- take_source: a source of which this api makes jobs, before any other api tries: the set that is being
--   submitted, or items to decide.
-- Safe to repeat: yes; what a lost reply took comes again when its time is over.
-- Locks: source (SKIP LOCKED).
-- Tenants in turn: that of which none was taken for the longest time, and of its sources the one that waits
--   longest.
-- Plan: by source_work_at_idx; the last taking of each tenant by source_taken_at_idx;
--   items by source_item_ready_idx and source_item_due_idx.
-- Returns: no row: none waits. items: [{n, key, fields, document, found_at}], the oldest first; those with a
--   document are submitted as they are, to the batch batch_id, or to a new one, under the number of the set.
--   sealed: as _secrets_of, for look-ups.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.take_source(
    limit_rows int, lease_s double precision, at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (
    source_id int,
    name text,
    lifecycle text,
    billing_project text,
    template jsonb,
    taking bigint,
    bunch int,
    batch_id bigint,
    batch_day date,
    items jsonb,
    tenant_id int,
    user_id int,
    user_name text,
    role text,
    sealed jsonb
) LANGUAGE plpgsql AS $$
DECLARE
    v_source weft.source;
    v_items jsonb;
BEGIN
    UPDATE weft.source s
    SET
        n_taken = s.n_taken + 1,
        taken_at = take_source.at,
        taken_until = take_source.at + take_source.lease_s * interval '1 second'
    WHERE s.source_id = (
        SELECT x.source_id
        FROM weft.source x
        WHERE x.work_at <= take_source.at AND (x.taken_until IS NULL OR x.taken_until <= take_source.at)
        ORDER BY
            (SELECT max(y.taken_at) FROM weft.source y WHERE y.tenant_id = x.tenant_id) NULLS FIRST, x.work_at
        LIMIT 1
        FOR UPDATE SKIP LOCKED
    )
    RETURNING s.*
    INTO v_source;
    IF v_source.source_id IS NULL THEN
        RETURN;
    END IF;
    SELECT jsonb_agg(
        jsonb_build_object(
            'n', i.n, 'key', i.key, 'fields', i.fields, 'document', i.document, 'found_at', i.found_at
        ) ORDER BY i.n
    )
    INTO v_items
    FROM weft.source_item i
    WHERE i.source_id = v_source.source_id AND i.state = 'ready';
    IF v_items IS NULL AND v_source.next_at IS NOT NULL THEN
        SELECT jsonb_agg(
            jsonb_build_object('n', d.n, 'key', d.key, 'fields', d.fields, 'found_at', d.found_at) ORDER BY
                d.n
        )
        INTO v_items
        FROM (
            SELECT i.*
            FROM weft.source_item i
            WHERE i.source_id = v_source.source_id AND i.due_at <= take_source.at
            ORDER BY i.due_at, i.n
            LIMIT limit_rows
        ) d;
    END IF;
    RETURN QUERY
    SELECT
        v_source.source_id, v_source.name, v_source.lifecycle, v_source.billing_project, v_source.template,
        v_source.n_taken, v_source.bunch, v_source.batch_id, v_source.batch_day, coalesce(v_items, '[]'),
        v_source.tenant_id, v_source.user_id, u.name, u.role,
        weft._secrets_of(
            v_source.tenant_id, v_source.user_id, coalesce(v_source.template #>> '{configure,let}', '')
        )
    FROM weft.tenant_user u
    WHERE u.user_id = v_source.user_id;
END $$;
