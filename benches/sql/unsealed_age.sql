-- unsealed_age: how many entries of the trail are not sealed, and the age of the oldest one in seconds.
SELECT count(*), coalesce(extract(epoch FROM clock_timestamp() - min(u.at)), 0)::double precision
FROM weft.trail_unsealed u
