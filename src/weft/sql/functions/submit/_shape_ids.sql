-- _shape_ids: the numbers of these requests for resources, in their order; new ones are added.
-- Called by: add_jobs.   Safe to repeat: yes.   Locks: none but new rows.
-- Owner: weft_system.  Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._shape_ids(cpu_ms bigint[], memory_mibs bigint[], storage_mibs bigint[], gpus int[], countables jsonb[])
RETURNS int[] LANGUAGE plpgsql
AS $$
#variable_conflict use_column
DECLARE
    v_ids int[];
BEGIN
    FOR i IN 1..2 LOOP
        SELECT array_agg(s.shape_id ORDER BY t.n) INTO v_ids
        FROM unnest(cpu_ms, memory_mibs, storage_mibs, gpus, _shape_ids.countables) WITH ORDINALITY t (c, m, d, g, x, n)
        LEFT JOIN weft.shape s ON s.cpu_m = t.c AND s.memory_mib = t.m AND s.storage_mib = t.d AND s.gpu = t.g AND s.countables = t.x;
        EXIT WHEN array_position(v_ids, NULL) IS NULL;
        INSERT INTO weft.shape (cpu_m, memory_mib, storage_mib, gpu, countables)
        SELECT DISTINCT t.* FROM unnest(cpu_ms, memory_mibs, storage_mibs, gpus, _shape_ids.countables) t ORDER BY 1, 2, 3, 4
        ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN v_ids;
END $$;
