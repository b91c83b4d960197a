-- The schema has everything that programs made for schema $1 need: more than that of the newest migration
--   says, as functions come last.
UPDATE weft.schema_range SET schema = $1 WHERE schema < $1::int
