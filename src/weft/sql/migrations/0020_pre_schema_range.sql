-- Which programs may use this schema. A program is numbered by its newest `pre` migration, and so is the schema.
CREATE TABLE weft.schema_range (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    schema int NOT NULL,
    oldest_program int NOT NULL,
    CONSTRAINT schema_range_in_order CHECK (oldest_program <= schema)
);
COMMENT ON COLUMN weft.schema_range.oldest_program IS 'raised by the contract step, which takes away what older programs call';
INSERT INTO weft.schema_range (schema, oldest_program) VALUES (20, 16);
