-- group_history: the changes that people made to a group (group 0: the batch), with their times, newest
--   first.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101, WF103.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.group_history(
    tenant_id int, batch_id bigint, group_id int, before bigint, limit_rows int
) RETURNS SETOF jsonb LANGUAGE plpgsql AS $$
BEGIN
    PERFORM weft._check_group(group_history.batch_id, group_history.group_id);
    RETURN QUERY
    SELECT jsonb_build_object(
        'id', c.change_id, 'at', c.at, 'kind', c.kind, 'actor', c.actor, 'message', c.message
    )
    FROM weft.group_change c
    WHERE c.batch_id = group_history.batch_id
        AND c.group_id = group_history.group_id
        AND c.change_id < coalesce(before, 9223372036854775807)
    ORDER BY c.change_id DESC
    LIMIT limit_rows;
END $$;
