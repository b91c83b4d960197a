-- _shape_ids: the ids of these resource requests and of their lanes, in their order; new ones are added.
-- Safe to repeat: yes.
-- Locks: as _lane_ids; shape.
-- `countables` holds a request's resources beside cpu, memory, storage and gpus: amounts as numbers, words as
--   text.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._shape_ids(
    cpu_ms bigint[],
    memory_mibs bigint[],
    storage_mibs bigint[],
    gpus int[],
    countables jsonb[],
    OUT shape_ids int[],
    OUT lane_ids int[]
) LANGUAGE plpgsql AS $$
DECLARE
    v_lanes int[];
    v_n int := cardinality(cpu_ms);
BEGIN
    FOR i IN 1..v_n LOOP
        -- Lost too often, such a job asks for a machine that stays (_leave_spot), and a loss must not wait
        -- for a new lane.
        IF _shape_ids.countables[i] ? 'preemptible' THEN
            cpu_ms := cpu_ms || cpu_ms[i];
            memory_mibs := memory_mibs || memory_mibs[i];
            storage_mibs := storage_mibs || storage_mibs[i];
            gpus := gpus || gpus[i];
            countables := _shape_ids.countables || (_shape_ids.countables[i] - 'preemptible');
        END IF;
    END LOOP;
    FOR i IN 1..2 LOOP
        SELECT array_agg(s.shape_id ORDER BY t.n), array_agg(s.lane_id ORDER BY t.n)
        INTO shape_ids, lane_ids
        FROM unnest(cpu_ms, memory_mibs, storage_mibs, gpus, _shape_ids.countables)
            WITH ORDINALITY t (c, m, d, g, x, n)
        LEFT JOIN weft.shape s ON s.cpu_m = t.c
            AND s.memory_mib = t.m
            AND s.storage_mib = t.d
            AND s.gpu = t.g
            AND s.countables = t.x;
        EXIT WHEN array_position(lane_ids, NULL) IS NULL;
        v_lanes := weft._lane_ids(
            ARRAY(
                SELECT '{"executor": "process"}' || t.x
                    || CASE WHEN t.d > 0 THEN jsonb_build_object('storage_mib', t.d) ELSE '{}' END
                    || CASE WHEN t.g > 0 THEN jsonb_build_object('gpu', t.g) ELSE '{}' END
                FROM unnest(storage_mibs, gpus, _shape_ids.countables) WITH ORDINALITY t (d, g, x, n)
                ORDER BY t.n
            )
        );
        INSERT INTO weft.shape AS s (cpu_m, memory_mib, storage_mib, gpu, countables, lane_id)
        SELECT DISTINCT t.*
        FROM unnest(cpu_ms, memory_mibs, storage_mibs, gpus, _shape_ids.countables, v_lanes) t
        ORDER BY 1, 2, 3, 4, 6
        ON CONFLICT (cpu_m, memory_mib, storage_mib, gpu, countables) DO UPDATE
        SET lane_id = excluded.lane_id
        WHERE s.lane_id IS NULL;
    END LOOP;
    shape_ids := shape_ids[:v_n];
    lane_ids := lane_ids[:v_n];
END $$;
