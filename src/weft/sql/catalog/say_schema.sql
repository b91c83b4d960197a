-- The schema has everything that programs made for schema $1 need.
UPDATE weft.schema_range SET schema = greatest(schema, $1::int)
