-- Let all blocked jobs wait for an hour, so that no test is due meanwhile.
UPDATE weft.blocked_job SET next_at = clock_timestamp() + interval '1 h'
