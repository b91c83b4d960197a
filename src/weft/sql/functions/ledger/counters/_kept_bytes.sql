-- _kept_bytes: how much of the output of an attempt counts as stored: all of it, or, if some was left out, at
--   most 64 MiB of each stream, which is what workers keep unless they are told otherwise. A worker may say
--   anything: no stream counts as more than an EiB.
-- Safe to repeat: yes.
-- Plan: inlined.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._kept_bytes(stdout_bytes bigint, stderr_bytes bigint, truncated boolean)
RETURNS bigint LANGUAGE sql IMMUTABLE AS $$
    SELECT least(greatest(stdout_bytes, 0), CASE WHEN truncated THEN 67108864 ELSE 1152921504606846976 END)
        + least(greatest(stderr_bytes, 0), CASE WHEN truncated THEN 67108864 ELSE 1152921504606846976 END)
$$;
