-- _membership_ids: the numbers of these memberships, in order; missing ones are added. Sets are sorted arrays
--   written as text ('{3,5}'), because PostgreSQL has no arrays of arrays of different lengths.
-- Safe to repeat: yes.
-- Locks: membership (new).
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._membership_ids(
    tenant_id int, of_batch_id bigint, tree_ids int[], sets text[]
) RETURNS int[] LANGUAGE plpgsql AS $$
DECLARE
    v_ids int[];
BEGIN
    FOR i IN 1..2 LOOP
        SELECT array_agg(m.membership_id ORDER BY t.n)
        INTO v_ids
        FROM unnest(tree_ids, _membership_ids.sets) WITH ORDINALITY t (g, s, n)
        LEFT JOIN weft.membership m ON m.batch_id = of_batch_id
            AND m.group_id = t.g
            AND m.set_ids = t.s::int[];
        EXIT WHEN array_position(v_ids, NULL) IS NULL;
        WITH new AS (
            INSERT INTO weft.membership (batch_id, tenant_id, group_id, set_ids)
            SELECT DISTINCT of_batch_id, _membership_ids.tenant_id, t.g, t.s::int[]
            FROM unnest(tree_ids, _membership_ids.sets) t (g, s)
            ORDER BY 3, 4
            ON CONFLICT DO NOTHING
            RETURNING membership_id, group_id, set_ids
        )
        INSERT INTO weft.group_ancestor (batch_id, group_id, ancestor_id, tenant_id)
        SELECT of_batch_id, n.membership_id, a.ancestor_id, _membership_ids.tenant_id
        FROM new n
        JOIN weft.group_ancestor a ON a.batch_id = of_batch_id AND a.group_id = n.group_id
        UNION ALL
        SELECT of_batch_id, n.membership_id, s, _membership_ids.tenant_id
        FROM new n, unnest(n.set_ids) s;
    END LOOP;
    RETURN v_ids;
END $$;
