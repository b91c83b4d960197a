-- _host_of: the host of a URL, to which deliveries are limited together; without a login; of a program all.
-- Owner: weft_system.
-- Granted to: weft_tenant.
CREATE OR REPLACE FUNCTION weft._host_of(url text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(lower(substring(url FROM '^[^:]*://(?:[^/?#@]*@)?([^/?#]*)')), url)
$$;
