-- From now on no program that was made for a schema below $1 starts.
UPDATE weft.schema_range SET oldest_program = greatest(oldest_program, $1::int)
