-- What is billed; usage is kept as unit x milliseconds.
CREATE TABLE weft.resource (
    resource_id smallint PRIMARY KEY,
    name text NOT NULL UNIQUE,
    unit text NOT NULL
);
INSERT INTO weft.resource
VALUES (1, 'cpu', 'mCPU*ms'), (2, 'memory', 'MiB*ms'), (3, 'storage', 'MiB*ms'), (4, 'gpu', 'gpu*ms');

-- All prices that hold from one moment on. A change of any price is a new card; an attempt keeps the card of
-- its claim.
CREATE TABLE weft.rate_card (
    rate_card_id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    valid_from timestamptz NOT NULL UNIQUE
);
INSERT INTO weft.rate_card (valid_from) VALUES ('-infinity');

CREATE TABLE weft.rate (
    rate_card_id smallint NOT NULL REFERENCES weft.rate_card,
    resource_id smallint NOT NULL REFERENCES weft.resource,
    price_per_unit_hour numeric NOT NULL CHECK (price_per_unit_hour >= 0),
    PRIMARY KEY (rate_card_id, resource_id)
);
GRANT SELECT ON weft.rate TO weft_api, weft_driver;
-- The defaults are of the order of a public cloud's: 0.01 a core hour, 0.001 a GiB hour, 0.0001 a GiB hour of
-- disk, 0.5 a GPU hour.
INSERT INTO weft.rate VALUES (1, 1, 0.01 / 1000), (1, 2, 0.001 / 1024), (1, 3, 0.0001 / 1024), (1, 4, 0.5);

-- What was corrected in prices and when they begin, by whom and why. Costs are computed from usage when they
-- are read, so a correction also changes those of the past.
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
