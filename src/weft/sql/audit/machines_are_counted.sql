-- The sums of machines of each pool equal its machines that are not deleted, by flavour and state.
WITH told AS (
    SELECT
        s.pool_id,
        s.flavour,
        s.state,
        ARRAY[
            sum(s.n),
            sum(s.from_us),
            sum(s.price),
            sum(s.price_from),
            sum(s.share),
            sum(s.share_from),
            sum(s.share_price),
            sum(s.share_price_from)
        ] AS sums
    FROM weft.machine_sum s
    GROUP BY 1, 2, 3
),
there AS (
    SELECT
        x.pool_id,
        x.flavour,
        x.state,
        ARRAY[
            count(*),
            sum(x.us),
            sum(x.price),
            sum(x.price * x.us),
            sum(x.share),
            sum(x.share * x.us),
            sum(x.share * x.price),
            sum(x.share * x.price * x.us)
        ] AS sums
    FROM (
        SELECT
            m.*,
            extract(epoch FROM coalesce(m.costs_from, m.created_at)) * 1000000 AS us,
            m.price_per_hour AS price,
            m.used_share::numeric AS share
        FROM weft.machine m
        WHERE m.state <> 'deleted'
    ) x
    GROUP BY 1, 2, 3
)
SELECT pool_id, flavour, state, t.sums, h.sums AS of_machines
FROM told t
FULL JOIN there h
USING (pool_id, flavour, state)
WHERE coalesce(t.sums, '{0,0,0,0,0,0,0,0}') <> coalesce(h.sums, '{0,0,0,0,0,0,0,0}')
