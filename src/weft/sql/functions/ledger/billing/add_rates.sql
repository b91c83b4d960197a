-- add_rates: new prices, from now on or from a moment to come; what is not given stays as on the card before.
--   Attempts that were claimed before keep their prices.
-- Safe to repeat: no; each makes a version.
-- Locks: rates (against another version at once).
-- Returns: the version.  Raises WF107 (a moment that has passed, or that has a card).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.add_rates(
    prices jsonb, new_valid_from timestamptz, at timestamptz DEFAULT clock_timestamp()
) RETURNS smallint LANGUAGE plpgsql AS $$
DECLARE
    v_card smallint;
    v_from timestamptz := coalesce(new_valid_from, add_rates.at);
    v_before smallint;
BEGIN
    LOCK TABLE weft.rate_card IN SHARE ROW EXCLUSIVE MODE;
    IF v_from < add_rates.at OR EXISTS (SELECT FROM weft.rate_card c WHERE c.valid_from >= v_from) THEN
        PERFORM weft._fail(
            'WF107',
            format('prices cannot start at %s', v_from),
            'That time has passed, or later prices exist.',
            'Give a time after the newest prices, or none to start now.'
        );
    END IF;
    SELECT c.rate_card_id INTO v_before FROM weft.rate_card c ORDER BY c.valid_from DESC LIMIT 1;
    INSERT INTO weft.rate_card (valid_from) VALUES (v_from) RETURNING rate_card_id INTO v_card;
    INSERT INTO weft.rate (rate_card_id, resource_id, price_per_unit_hour)
    SELECT v_card, x.resource_id, coalesce((prices ->> x.name)::numeric, r.price_per_unit_hour, 0)
    FROM weft.resource x
    LEFT JOIN weft.rate r ON r.rate_card_id = v_before AND r.resource_id = x.resource_id;
    RETURN v_card;
END $$;
