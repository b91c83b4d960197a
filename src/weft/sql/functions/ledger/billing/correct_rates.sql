-- correct_rates: change prices of a version that were entered wrong, and its date if that is still to come;
--   record who and why. Costs are computed from usage when they are read, so what was used under this version
--   costs the corrected price from now on.
-- Safe to repeat: yes; what is so already is no correction.
-- Locks: rates.
-- Returns: each billing project with usage under this version, and what that costs before and after.
-- Raises WF107 (a date that has passed, or is not between those of the versions beside it), WF109 (no such
--   version).
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft.correct_rates(
    version int,
    prices jsonb,
    new_valid_from timestamptz,
    actor text,
    reason text,
    at timestamptz DEFAULT clock_timestamp()
) RETURNS TABLE (tenant text, project text, cost_before numeric, cost_after numeric) LANGUAGE plpgsql AS $$
DECLARE
    v_card weft.rate_card;
    v_old jsonb;
    v_new jsonb;
    v_before jsonb;
BEGIN
    LOCK TABLE weft.rate_card IN SHARE ROW EXCLUSIVE MODE;
    SELECT c.* INTO v_card FROM weft.rate_card c WHERE c.rate_card_id = correct_rates.version;
    IF NOT FOUND THEN
        PERFORM weft._fail(
            'WF109',
            format('version %s of the prices does not exist', correct_rates.version),
            '',
            '`weft billing rates` lists all.'
        );
    END IF;
    IF new_valid_from <> v_card.valid_from
        AND (
            least(v_card.valid_from, new_valid_from) <= correct_rates.at
                OR EXISTS (
                    SELECT
                    FROM weft.rate_card c
                    WHERE c.valid_from > v_card.valid_from AND c.valid_from <= new_valid_from
                )
                OR EXISTS (
                    SELECT
                    FROM weft.rate_card c
                    WHERE c.valid_from < v_card.valid_from AND c.valid_from >= new_valid_from
                )
        )
    THEN
        PERFORM weft._fail(
            'WF107',
            format('version %s of the prices cannot start at %s', v_card.rate_card_id, new_valid_from),
            'These prices apply already, that time has passed, or other prices start in between.',
            'Correct the prices, or give a time to come between the versions before and after.'
        );
    END IF;
    SELECT jsonb_object_agg(c.project_id, c.cost)
    INTO v_before
    FROM weft._costs_under_rates(v_card.rate_card_id) c;
    SELECT
        coalesce(jsonb_object_agg(x.name, r.price_per_unit_hour), '{}'),
        coalesce(jsonb_object_agg(x.name, p.value::numeric), '{}')
    INTO v_old, v_new
    FROM jsonb_each_text(prices) p
    JOIN weft.resource x ON x.name = p.key
    JOIN weft.rate r ON r.rate_card_id = v_card.rate_card_id AND r.resource_id = x.resource_id
    WHERE r.price_per_unit_hour <> p.value::numeric;
    UPDATE weft.rate r
    SET price_per_unit_hour = (v_new ->> x.name)::numeric
    FROM weft.resource x
    WHERE r.rate_card_id = v_card.rate_card_id AND x.resource_id = r.resource_id AND v_new ? x.name;
    IF new_valid_from <> v_card.valid_from THEN
        UPDATE weft.rate_card c SET valid_from = new_valid_from WHERE c.rate_card_id = v_card.rate_card_id;
        v_old := v_old || jsonb_build_object('valid_from', v_card.valid_from);
        v_new := v_new || jsonb_build_object('valid_from', new_valid_from);
    END IF;
    INSERT INTO weft.rate_correction (rate_card_id, at, actor, reason, old, new)
    SELECT v_card.rate_card_id, correct_rates.at, correct_rates.actor, correct_rates.reason, v_old, v_new
    WHERE v_new <> '{}';
    RETURN QUERY
    SELECT t.name, p.name, (v_before ->> p.project_id::text)::numeric, c.cost
    FROM weft._costs_under_rates(v_card.rate_card_id) c
    JOIN weft.billing_project p
    USING (project_id)
    JOIN weft.tenant t
    USING (tenant_id)
    ORDER BY t.name, p.name;
END $$;
