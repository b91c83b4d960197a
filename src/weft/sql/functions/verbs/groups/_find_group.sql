-- _find_group: the number of a group, found by number or, if that is NULL, by path. A path without a leading
--   slash is the name of a set or, if there is no such set, of a tree group below the root. Raises WF101,
--   WF103.
-- Safe to repeat: yes, it only reads.
-- Plan: by key.
-- Owner: weft_tenant.
CREATE OR REPLACE FUNCTION weft._find_group(of_batch_id bigint, of_group_id int, of_path text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_id int := of_group_id;
BEGIN
    IF v_id IS NULL THEN
        PERFORM weft._check_batch(of_batch_id);
        SELECT g.group_id
        INTO v_id
        FROM weft.job_group g
        WHERE g.batch_id = of_batch_id AND g.is_set AND g.name = of_path;
        IF v_id IS NULL THEN
            SELECT g.group_id
            INTO v_id
            FROM weft.job_group g
            WHERE g.batch_id = of_batch_id
                AND g.path = CASE WHEN of_path LIKE '/%' THEN '' ELSE '/' END || of_path;
        END IF;
        IF v_id IS NULL THEN
            PERFORM weft._fail(
                'WF103',
                format('group %s of batch b%s does not exist', of_path, of_batch_id),
                'The batch has no group of this path.',
                format('List its groups with `weft groups b%s`.', of_batch_id)
            );
        END IF;
    END IF;
    PERFORM weft._check_group(of_batch_id, v_id);
    RETURN v_id;
END $$;
