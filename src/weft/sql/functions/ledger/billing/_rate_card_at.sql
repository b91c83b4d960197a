-- _rate_card_at: the rate card by which an attempt that is claimed at this time is billed; NULL: there is
--   none yet.
-- For: claim_reserved, limit_rounds, _admissible_jobs; claim_jobs asks the same within its first statement.
-- Plan: rate cards by date, the last one.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._rate_card_at(at timestamptz) RETURNS smallint LANGUAGE sql STABLE AS $$
    SELECT c.rate_card_id
    FROM weft.rate_card c
    WHERE c.valid_from <= _rate_card_at.at
    ORDER BY c.valid_from DESC
    LIMIT 1
$$;
