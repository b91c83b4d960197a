-- What a submission hands over, grouped: calls pass these on as one value. Their attributes never change, because programs that are
-- connected keep the form that they saw first; a new field of a job travels in rare_fields.
CREATE TYPE weft.group_columns AS (
    group_ids int[], parent_ids int[], names text[], attributes jsonb[], cancel_afters int[], callbacks text[], are_sets boolean[]
);
CREATE TYPE weft.job_columns AS (
    shape_cpu_ms bigint[], shape_memory_mibs bigint[], shape_storage_mibs bigint[], shape_gpus int[], shape_countables jsonb[],
    shape_indexes int[], group_ids int[], priorities smallint[], always_runs boolean[], max_attempts smallint[], retry_ons int[],
    edge_children int[], edge_parents int[], edge_parent_ns int[], combo_indexes int[], combo_numbers int[], combo_sets int[],
    entry_ns int[], array_firsts int[], array_ns int[], array_indexes int[], array_names text[], array_attributes jsonb[],
    label_jobs int[], label_names text[], label_attributes jsonb[], rare_jobs int[], rare_fields jsonb[],
    chunk_firsts int[], chunk_ns int[], chunk_bodies bytea[]
);
-- Fields that few jobs have, as sent.
ALTER TABLE weft.job_label ADD COLUMN rare_fields jsonb;
ALTER TABLE weft.job_array ADD COLUMN rare_fields jsonb;
