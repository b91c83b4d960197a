-- _has_cores: whether cpu and memory of an incarnation are those of a host. A worker of simulations has
--   slots, which stand as mCPU; that of foreign programs has none.
-- Safe to repeat: yes, it reads its argument only.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._has_cores(i weft.worker_incarnation) RETURNS boolean
LANGUAGE sql IMMUTABLE AS $$
    SELECT coalesce(i.offers -> 'executor' <> '["simulation"]', true)
        AND NOT coalesce(i.offers ? 'foreign', false)
$$;
