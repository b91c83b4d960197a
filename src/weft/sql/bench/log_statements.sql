-- log_statements: let the server write every statement to its log, from the next connection's first one on.
ALTER SYSTEM SET log_statement = 'all';
ALTER SYSTEM SET log_line_prefix = '%m [%p] user=%u ';
SELECT pg_reload_conf();
