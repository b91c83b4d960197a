-- All time of machines until their costs were last counted is in the costs of their pools, and no job uses
--   more than there is.
SELECT p.name AS pool, coalesce(c.flavour, m.flavour) AS flavour, c.us AS counted_us, m.us AS machines_us
FROM (
    SELECT
        x.pool_id, x.flavour, sum(x.machine_us) AS us, bool_and(x.used_cost BETWEEN 0 AND x.cost) AS is_right
    FROM weft.pool_cost x
    GROUP BY 1, 2
) c
FULL JOIN (
    SELECT
        y.pool_id, y.flavour, sum((extract(epoch FROM y.costs_from - y.created_at) * 1000000)::bigint) AS us
    FROM weft.machine y
    WHERE y.costs_from IS NOT NULL
    GROUP BY 1, 2
) m ON m.pool_id = c.pool_id
    AND m.flavour = c.flavour
JOIN weft.pool p ON p.pool_id = coalesce(c.pool_id, m.pool_id)
WHERE c.us IS DISTINCT FROM m.us OR NOT c.is_right
