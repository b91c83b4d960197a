-- What the last `weft audit` has found, for those who look after a site.
CREATE TABLE weft.last_audit (
    one_row boolean PRIMARY KEY DEFAULT true CHECK (one_row),
    ended_at timestamptz NOT NULL,
    took_ms bigint NOT NULL CHECK (took_ms >= 0),
    version text NOT NULL CHECK (length(version) <= 64),  -- of the program that looked
    n_checks int NOT NULL CHECK (n_checks >= 0),
    wrong jsonb NOT NULL CHECK (jsonb_typeof(wrong) = 'array')  -- checks that do not hold: check, sentence, n_rows
);
GRANT SELECT ON weft.last_audit TO weft_system;
