-- _next_tests: the conditions of each tenant that are tested next, by `until`, at most n_each; with those
--   that are being tested (`busy`) half of `limit_rows`, and none if there is no room.
-- Plan: from one tenant to the next by index, the first by date of each.
-- Returns: n: its turn, which counts what its tenant has under way.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._next_tests(busy bigint[], limit_rows int, n_each int, until timestamptz)
RETURNS TABLE (condition_id bigint, next_test_at timestamptz, n bigint) LANGUAGE sql STABLE AS $$
    WITH RECURSIVE held AS MATERIALIZED (
        SELECT c.tenant_id, count(*) AS n
        FROM weft.condition c
        WHERE c.condition_id = ANY (busy)
        GROUP BY c.tenant_id
    ),
    place AS (
        (
            SELECT c.tenant_id
            FROM weft.condition c
            WHERE cardinality(busy) < limit_rows
            ORDER BY c.tenant_id
            LIMIT 1
        ) UNION ALL SELECT (SELECT min(c.tenant_id) FROM weft.condition c WHERE c.tenant_id > p.tenant_id)
                FROM place p WHERE p.tenant_id IS NOT NULL
    )
    SELECT
        d.condition_id,
        d.next_test_at,
        coalesce(h.n, 0) + row_number() OVER (PARTITION BY p.tenant_id ORDER BY d.next_test_at)
    FROM place p
    LEFT JOIN held h
    USING (tenant_id)
    CROSS JOIN LATERAL (
        SELECT c.condition_id, c.next_test_at
        FROM weft.condition c
        WHERE c.tenant_id = p.tenant_id AND c.next_test_at <= until AND c.condition_id <> ALL (busy)
        ORDER BY c.next_test_at
        LIMIT least(n_each, greatest(0, greatest(1, limit_rows / 2) - coalesce(h.n, 0)))
    ) d
$$;
