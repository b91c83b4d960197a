-- _more_text: what a job asks for beyond what it asked for before, and whether that is all that its rules ask
--   for.
-- Plan: two shapes by key.
-- stays: it is no longer preemptible.
-- Returns: nothing if there is nothing to tell.
-- Owner: weft_system.
CREATE OR REPLACE FUNCTION weft._more_text(old_shape int, new_shape int, is_all boolean, stays boolean)
RETURNS text LANGUAGE sql STABLE AS $$
    SELECT concat_ws(
        '; ',
        nullif(
            concat_ws(
                ', ',
                CASE
                    WHEN n.cpu_m <> o.cpu_m
                        THEN format(
                            '%s cpu instead of %s', trim_scale(n.cpu_m / 1000.0), trim_scale(o.cpu_m / 1000.0)
                        )
                END,
                CASE
                    WHEN n.memory_mib <> o.memory_mib
                        THEN format('%sMi of memory instead of %sMi', n.memory_mib, o.memory_mib)
                END,
                CASE
                    WHEN n.storage_mib <> o.storage_mib
                        THEN format('%sMi of storage instead of %sMi', n.storage_mib, o.storage_mib)
                END,
                CASE
                    WHEN n.countables ->> 'machine' IS DISTINCT FROM o.countables ->> 'machine'
                        THEN format('a machine %s of its own', n.countables ->> 'machine')
                END,
                CASE WHEN stays THEN 'it is no longer preemptible' END
            ),
            ''
        ),
        CASE WHEN NOT is_all THEN 'its pool has nothing that holds all that retry_with asks for' END
    )
    FROM weft.shape o, weft.shape n
    WHERE o.shape_id = old_shape AND n.shape_id = new_shape
$$;
