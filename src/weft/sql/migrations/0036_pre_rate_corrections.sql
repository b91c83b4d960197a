-- What was corrected in prices and when they begin, by whom and why. Costs are computed from usage when they are read, so a correction
-- also changes those of the past.
CREATE TABLE weft.rate_correction (
    rate_card_id smallint NOT NULL REFERENCES weft.rate_card,
    correction_id bigint GENERATED ALWAYS AS IDENTITY,
    at timestamptz NOT NULL,
    actor text NOT NULL CHECK (length(actor) <= 300),
    reason text CHECK (length(reason) <= 1000),
    old jsonb NOT NULL,  -- by name of the resource its price; or valid_from
    new jsonb NOT NULL,
    PRIMARY KEY (rate_card_id, correction_id)
);
