-- settings: what the server says of these settings.
SELECT name, setting FROM pg_settings WHERE name = ANY ($1::text[])
