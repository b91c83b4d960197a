-- _template: a digest of what machines of a flavour are made from: provider, its options and the flavour
--   without its price. Fields that flavours of an older release lack count only if they say something.
-- NULL: there is no such flavour.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._template(plan jsonb, of_flavour text) RETURNS text
LANGUAGE sql IMMUTABLE AS $$
    SELECT md5(
        format(
            '%s %s %s',
            plan -> 'provider',
            plan -> 'options',
            f - 'price_per_hour' - ARRAY(
                SELECT e.key
                FROM jsonb_each(f) e
                WHERE e.key = 'gpus' AND e.value = '0' OR e.key = 'countables' AND e.value = '{}'
            )
        )
    )
    FROM jsonb_array_elements(plan -> 'flavours') f
    WHERE f ->> 'name' = of_flavour
$$;
