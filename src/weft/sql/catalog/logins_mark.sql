-- The statement that notes whom the logins serve from now on: this database, for the home $1 (`logins_held`).
SELECT format('COMMENT ON ROLE weft_api IS %L', format('database %I, home %s', current_database(), $1::text))
