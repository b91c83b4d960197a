-- set_machine_prices: what machines cost per hour from now on, by pool and flavour; those that exist, too.
-- Safe to repeat: yes, also the record of what changed.
-- Locks: pool (in the order of their ids); as _price_machines; pool_log.
-- prices: documents with `pool`, `flavour`, `price`.
-- Returns: how many flavours changed.
-- Raises WF110 (no such flavour).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.set_machine_prices(prices jsonb, actor text) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
    v_one record;
    v_pools int[] := '{}';
    v_texts text[] := '{}';
BEGIN
    PERFORM FROM weft.pool p ORDER BY p.pool_id FOR NO KEY UPDATE;
    FOR v_one IN
        SELECT w.pool, w.flavour, w.price, p.pool_id, f.at, f.plan ->> 'price_per_hour' AS before
        FROM jsonb_to_recordset(prices) w (pool text, flavour text, price text)
        LEFT JOIN weft.pool p ON p.name = w.pool
        LEFT JOIN LATERAL jsonb_array_elements(p.plan -> 'flavours') WITH ORDINALITY f (plan, at)
            ON f.plan ->> 'name' = w.flavour
        ORDER BY w.pool, w.flavour
    LOOP
        IF v_one.at IS NULL THEN
            PERFORM weft._fail(
                'WF110',
                format('pool "%s" has no flavour "%s"', v_one.pool, v_one.flavour),
                'No price was changed.',
                '`weft pool show NAME` lists the flavours of a pool.'
            );
        END IF;
        CONTINUE WHEN v_one.before::numeric = v_one.price::numeric;
        UPDATE weft.pool p
        SET plan = jsonb_set(
            p.plan, ARRAY['flavours', (v_one.at - 1)::text, 'price_per_hour'], to_jsonb(v_one.price)
        )
        WHERE p.pool_id = v_one.pool_id;
        v_pools := v_pools || v_one.pool_id;
        v_texts := v_texts || format(
            '%s changed the price of flavour %s from %s to %s per hour',
            set_machine_prices.actor,
            v_one.flavour,
            v_one.before,
            v_one.price
        );
    END LOOP;
    PERFORM weft._price_machines(x.pool_id) FROM (SELECT DISTINCT unnest(v_pools) AS pool_id ORDER BY 1) x;
    PERFORM weft._record_pool_changes(x.pool_id, ARRAY['apply'], ARRAY[NULL::text], ARRAY[x.text])
    FROM unnest(v_pools, v_texts) x (pool_id, text);
    RETURN cardinality(v_pools);
END $$;
