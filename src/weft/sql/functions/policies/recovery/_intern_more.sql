-- _intern_more: make the shapes that jobs may ask for by their `retry_with` once they wait in another queue,
--   or in a batch that was made from theirs.
-- Safe to repeat: yes.
-- Locks: as _shape_ids.
-- Plan: jobs and rules by key.
-- asked: the words of the queue; NULL: they keep theirs.
-- Owner: weft_tenant.
-- Granted to: weft_system.
CREATE OR REPLACE FUNCTION weft._intern_more(of_batch_id bigint, of_job_ids int[], asked jsonb) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
    v_asks record;
BEGIN
    SELECT
        array_agg((m.sizes ->> 'cpu_m')::bigint) AS cpu_ms,
        array_agg((m.sizes ->> 'memory_mib')::bigint) AS memory_mibs,
        array_agg((m.sizes ->> 'storage_mib')::bigint) AS storage_mibs,
        array_agg(d.gpu) AS gpus,
        array_agg(m.words) AS countables
    INTO v_asks
    FROM (
        SELECT DISTINCT
            h.cpu_m,
            h.memory_mib,
            h.storage_mib,
            h.gpu,
            CASE
                WHEN asked IS NULL THEN h.countables
                ELSE h.countables - ARRAY['queue', 'pool', 'transport', 'foreign'] || asked
            END AS words,
            weft._rare_field(of_batch_id, j.job_id, j.spec_first, 'more') AS rules
        FROM unnest(of_job_ids) x
        CROSS JOIN LATERAL (
            SELECT y.* FROM weft.job y WHERE y.batch_id = of_batch_id AND y.job_id = x OFFSET 0
        ) j
        JOIN weft.shape h ON h.shape_id = j.shape_id
        WHERE j.retry_on & 2097152 <> 0
    ) d
    CROSS JOIN LATERAL weft._more_asks(
        d.rules,
        ARRAY(
            SELECT jsonb_array_length(r.rule -> 'values') - 1
            FROM jsonb_array_elements(d.rules) WITH ORDINALITY r (rule, n)
            ORDER BY r.n
        ),
        jsonb_build_object('cpu_m', d.cpu_m, 'memory_mib', d.memory_mib, 'storage_mib', d.storage_mib),
        d.words
    ) m;
    IF v_asks.gpus IS NOT NULL THEN
        PERFORM weft._shape_ids(
            v_asks.cpu_ms, v_asks.memory_mibs, v_asks.storage_mibs, v_asks.gpus, v_asks.countables
        );
    END IF;
END $$;
