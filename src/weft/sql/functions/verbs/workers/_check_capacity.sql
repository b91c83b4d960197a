-- _check_capacity: refuse a worker that says it has what no host has: jobs would be accepted and claimed for
--   it that nobody can run.
-- The limits are those of weft.core.billing.resources and weft.core.scheduling.offers.
-- Raises WF310.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._check_capacity(
    cpu_m bigint, memory_mib bigint, storage_mib bigint, gpu bigint, offers jsonb
) RETURNS void LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    v_wrong text;
BEGIN
    SELECT min(
        format(
            'It says that it has %s %s; possible are %s to %s.',
            left(x.has, 40),
            left(x.what, 64),
            x.least,
            x.most
        )
    )
    INTO v_wrong
    FROM (
        SELECT
            'cores' AS what,
            (_check_capacity.cpu_m / 1000.0)::float8::text AS has,
            '0.001' AS least,
            '100000' AS most,
            _check_capacity.cpu_m BETWEEN 1 AND 100000000 AS is_possible
        UNION ALL
        SELECT
            'MiB of memory',
            _check_capacity.memory_mib::text,
            '1',
            '1073741824',
            _check_capacity.memory_mib BETWEEN 1 AND 1073741824
        UNION ALL
        SELECT
            'MiB of storage',
            _check_capacity.storage_mib::text,
            '0',
            '1099511627776',
            _check_capacity.storage_mib BETWEEN 0 AND 1099511627776
        UNION ALL
        SELECT 'GPUs', _check_capacity.gpu::text, '0', '1024', _check_capacity.gpu BETWEEN 0 AND 1024
        UNION ALL
        SELECT
            o.key,
            o.value::text,
            '0',
            '1000000000',
            CASE jsonb_typeof(o.value)
                WHEN 'number'
                    THEN (o.value #>> '{}')::numeric BETWEEN 0 AND 1000000000
                        AND (o.value #>> '{}')::numeric % 1 = 0
            END
        FROM jsonb_each(_check_capacity.offers) o
        WHERE jsonb_typeof(o.value) NOT IN ('string', 'array')
    ) x
    WHERE x.is_possible IS NOT TRUE;
    IF v_wrong IS NOT NULL THEN
        PERFORM weft._fail(
            'WF310',
            'a worker cannot have this much',
            v_wrong,
            'Start it with what its host has: --worker-cpu, --worker-memory and the setting worker_offers.'
        );
    END IF;
END $$;
