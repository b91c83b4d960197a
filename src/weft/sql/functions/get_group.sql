-- get_group: the document of one group, by number or, if that is NULL, by path. A path without the first slash is the name of a set,
--   or if there is none of a tree group below the root.
-- Called by: Store.get_group (api).   Safe to repeat: yes, it only reads.   Plan: by key.   Raises WF101, WF103.
-- Owner: weft_tenant.  Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.get_group(tenant_id int, batch_id bigint, group_id int, path text) RETURNS jsonb
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_id int := get_group.group_id;
BEGIN
    PERFORM weft._as_tenant(get_group.tenant_id);
    IF v_id IS NULL THEN
        PERFORM weft._check_batch(get_group.batch_id);
        SELECT g.group_id INTO v_id FROM weft.job_group g WHERE g.batch_id = get_group.batch_id AND g.is_set AND g.name = get_group.path;
        IF v_id IS NULL THEN
            SELECT g.group_id INTO v_id FROM weft.job_group g
            WHERE g.batch_id = get_group.batch_id AND g.path = CASE WHEN get_group.path LIKE '/%' THEN '' ELSE '/' END || get_group.path;
        END IF;
        IF v_id IS NULL THEN
            PERFORM weft._fail('WF103', format('group %s of batch b%s does not exist', get_group.path, get_group.batch_id),
                               'The batch has no group of this path.', 'List its groups with GET /v1/batches/{b}/groups.');
        END IF;
    END IF;
    PERFORM weft._check_group(get_group.batch_id, v_id);
    RETURN (SELECT d.document FROM weft._group_documents(ARRAY[get_group.batch_id], ARRAY[v_id]) d);
END $$;
