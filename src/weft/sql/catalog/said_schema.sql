-- The number of the schema that has everything its programs need; less than that of the newest migration: the functions are still to come.
SELECT r.schema FROM weft.schema_range r
