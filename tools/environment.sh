#!/usr/bin/env bash
# Make .tools/NAME, an environment with what is pinned in requirements/NAME.txt: `hail`, Hail's own client for the tests of its
# door, `agave`, that of Agave, `joblib`, with scikit-learn and the weft of this folder, `parsl`, `psij`, `snakemake`, `airflow`, `executorlib`, `fsspec`, `kedro`, `submitit`, `hydra`, `mcp`, `opentelemetry` and `toil`, with weft and their plug-ins, `tes`, clients of TES, `toil-tes`, Toil with its own client of TES, `crate`, readers of RO-Crates and events of OpenLineage, `kubernetes`, the schemas of Kubernetes, or `notebook`, the kernel of Jupyter notebooks for the test of
# what they show, or `site`, Sphinx for `make site`. Safe to repeat, and safe to run twice at once.
set -euo pipefail
cd "$(dirname "$0")/.."
names='agave, airflow, crate, executorlib, fsspec, hail, hydra, joblib, kedro, kubernetes, mcp, notebook, opentelemetry, parsl, psij, site, snakemake, submitit, tes, toil or toil-tes'
name=${1:?$names}
case $name in
    hail) module=hailtop.batch_client ;; # its requirements are fewer than its package says: no compiler and no cluster
    agave) module=agavepy.agave ;; # likewise
    airflow) module=weft,airflow,weft_airflow ;;
    crate) module=rocrate_validator ;; # it wants an older `rich` than the development requirements
    executorlib) module=weft,executorlib,weft_executorlib ;;
    fsspec) module=weft,pandas,weft_fsspec ;;
    hydra) module=weft,hydra,hydra_plugins.weft_launcher; sources=(--no-binary antlr4-python3-runtime) ;; # there is no wheel of it
    joblib) module=weft,sklearn ;;
    kedro) module=weft,kedro,weft_kedro ;;
    kubernetes) module=weft,kubernetes_validate ;;
    mcp) module=weft,mcp,weft_mcp ;;
    notebook) module=ipykernel ;;
    opentelemetry) module=weft,opentelemetry.sdk,weft_opentelemetry ;;
    parsl) module=weft,parsl,weft_parsl ;;
    psij) module=weft,psij,weft_psij ;;
    site) module=weft,sphinx,myst_parser,furo ;;
    snakemake) module=weft,snakemake_executor_plugin_weft; sources=(--no-binary connection-pool) ;; # there is no wheel of it
    submitit) module=weft,submitit,weft_submitit ;;
    tes) module=tes,pydantictes ;;
    toil) module=weft,toil.wdl.wdltoil,toil_batch_system_weft; sources=(--no-binary antlr4-python3-runtime) ;; # likewise
    toil-tes) module=toil_batch_system_tes.tes_batch_system ;;
    *) echo "$name is not $names" >&2; exit 2 ;;
esac
tools/setup.sh

own=.tools/$name
mkdir -p .tools
exec 9>".tools/.$name.lock"
flock 9
if cmp -s "requirements/$name.txt" "$own/.stamp" && "$own/bin/python" -c "import $module" 2>/dev/null; then
    exit 0
fi
echo "setup: $own" >&2
rm -rf "$own"
.venv/bin/python -m venv "$own"
"$own/bin/python" -m pip install --quiet --disable-pip-version-check --no-input --no-compile --no-deps \
    --only-binary :all: ${sources[@]+"${sources[@]}"} --require-hashes -r "requirements/$name.txt"
# Programs of this environment and jobs that they submit find weft and what it needs behind their own modules.
if [[ $module == weft,* ]]; then
    printf '%s\n' "$PWD"/integrations/*/src "$PWD"/packages/*/src "$PWD/src" "$PWD"/.venv/lib/python*/site-packages >"$(echo "$own"/lib/python*/site-packages)/weft.pth"
fi
case $name in # their tools find them by entry points
    fsspec | mcp | opentelemetry | submitit) "$own/bin/python" -m pip install --quiet --disable-pip-version-check --no-index --no-deps --no-build-isolation -e "integrations/$name" ;;
esac
cp "requirements/$name.txt" "$own/.stamp"
