-- Which database this is: homes that serve several keep the output of each apart. A copy of a database has the same.
ALTER TABLE weft.schema_range ADD COLUMN database_id uuid NOT NULL DEFAULT gen_random_uuid();
