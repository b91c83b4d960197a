-- The schema of what dashboards read. Its names and columns are an interface: a release adds columns at the
--   end, and takes none away. The views are weft_views', which sees the tenant of the login that asks and
--   nothing else (ADR 127).
CREATE SCHEMA IF NOT EXISTS weft_views AUTHORIZATION weft_views;
