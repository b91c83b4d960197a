-- list_rates: all rate cards, newest first: prices per unit and hour, from when on they hold, and what was
--   corrected in them, newest first. An attempt keeps the card of its claim.
-- Owner: weft_system.
-- Granted to: weft_api.
CREATE OR REPLACE FUNCTION weft.list_rates() RETURNS SETOF jsonb LANGUAGE sql STABLE AS $$
    SELECT jsonb_build_object(
        'version', c.rate_card_id,
        'valid_from', nullif(c.valid_from, '-infinity'),
        'rates', (
            SELECT jsonb_agg(
                jsonb_build_object(
                    'resource', x.name, 'unit', replace(x.unit, '*ms', '*h'), 'price', r.price_per_unit_hour
                ) ORDER BY x.resource_id
            )
            FROM weft.rate r
            JOIN weft.resource x
            USING (resource_id)
            WHERE r.rate_card_id = c.rate_card_id
        ),
        'corrections', (
            SELECT coalesce(
                jsonb_agg(
                    jsonb_build_object(
                        'at', k.at, 'by', k.actor, 'reason', k.reason, 'old', k.old, 'new', k.new
                    ) ORDER BY k.correction_id DESC
                ),
                '[]'
            )
            FROM weft.rate_correction k
            WHERE k.rate_card_id = c.rate_card_id
        )
    )
    FROM weft.rate_card c
    ORDER BY c.valid_from DESC
$$;
