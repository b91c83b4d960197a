-- _end_by_rules: what an end means by the rules of its job: an exit may be a success (reason 0) or an
--   external error; else exits and signals that the rules leave out are final, if they name any of their
--   kind.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._end_by_rules(
    rules jsonb, of_reason smallint, exit_code int, signal smallint, OUT reason smallint, OUT is_final boolean
) LANGUAGE sql IMMUTABLE AS $$
    SELECT
        CASE WHEN is_success THEN 0 WHEN is_external THEN REASON_BLOCKED ELSE of_reason END::smallint,
        CASE
            WHEN is_success OR is_external THEN false
            WHEN of_reason = REASON_EXIT AND rules ? 'exits'
                THEN NOT weft._is_within(rules -> 'exits', exit_code)
            WHEN of_reason = REASON_SIGNAL AND rules ? 'signals'
                THEN NOT rules -> 'signals' @> to_jsonb(signal)
            ELSE false
        END
    FROM (
        SELECT
            of_reason = REASON_EXIT
                AND rules ? 'successes'
                AND weft._is_within(rules -> 'successes', exit_code) AS is_success,
            of_reason = REASON_EXIT
                AND rules ? 'external'
                AND weft._is_within(rules -> 'external', exit_code) AS is_external
    ) x
$$;
