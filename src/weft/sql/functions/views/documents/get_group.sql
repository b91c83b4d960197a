-- get_group: the document of one group, by number or, if that is NULL, by path or name (_find_group).
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Raises WF101, WF103.
-- Owner: weft_tenant.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_group(tenant_id int, batch_id bigint, group_id int, path text)
RETURNS jsonb LANGUAGE plpgsql PLAN_ONCE SET enable_seqscan = off SET enable_mergejoin = off AS $$
BEGIN
    RETURN (
        SELECT d.document
        FROM weft._group_documents(
            ARRAY[get_group.batch_id],
            ARRAY[weft._find_group(get_group.batch_id, get_group.group_id, get_group.path)]
        ) d
    );
END $$;
