#!/usr/bin/env bash
# Pin every requirement with its hashes. Run it after a change of the dependencies in a pyproject.toml.
# The files hold names, versions and hashes only, so they are valid with any package index.
set -euo pipefail
cd "$(dirname "$0")/.."
uv="${UV:-.venv/bin/uv}"
# What extras need, also by packages of weft, which no index has.
wanted() { .venv/bin/python tools/check_requirements.py --wanted server embedded "$@"; }
compile() { "$uv" pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate "$@"; }
wanted | compile - --output-file requirements/runtime.txt
wanted | compile - --group dev --output-file requirements/dev.txt
wanted kafka | compile - --constraint requirements/dev.txt --output-file requirements/kafka.txt
wanted openstack | compile - --constraint requirements/dev.txt --output-file requirements/openstack.txt
wanted rabbitmq | compile - --constraint requirements/dev.txt --output-file requirements/rabbitmq.txt
wanted s3 | compile - --constraint requirements/dev.txt --output-file requirements/s3.txt
wanted ssh | compile - --constraint requirements/dev.txt --output-file requirements/ssh.txt
wanted plots | compile - --constraint requirements/dev.txt --output-file requirements/plots.txt
# The kernel of notebooks, for the test of what they show.
echo ipykernel | compile - --constraint requirements/dev.txt --output-file requirements/notebook.txt
# scikit-learn, whose searches run on joblib's backend of ours.
printf '%s\n' joblib scikit-learn | compile - --constraint requirements/dev.txt --output-file requirements/joblib.txt
# Snakemake, whose jobs run by the plug-in of ours, and the one beside which `make bench` measures it; it wants an older `packaging` than the development requirements.
printf '%s\n' pytest 'snakemake~=9.27' snakemake-executor-plugin-cluster-generic 'snakemake-interface-executor-plugins>=9,<10' |
    compile - --output-file requirements/snakemake.txt
# Parsl, whose apps run by the executor of ours; its tests want an older pytest.
printf '%s\n' pandas 'parsl[monitoring]' 'pytest<8' pytest-random-order pytest-timeout | compile - --output-file requirements/parsl.txt
# PSI/J, whose jobs run by the executor of ours, and what its tests need.
printf '%s\n' filelock psij-python pytest pytest-timeout requests | compile - --output-file requirements/psij.txt
# Toil, whose jobs run by the batch system of ours.
printf '%s\n' pytest 'toil[cwl,wdl]' | compile - --output-file requirements/toil.txt
# What the plug-ins of ours for fsspec, executorlib, Kedro, Hydra, submitit and the Model Context Protocol stand on, and what their tests need.
printf '%s\n' fsspec hatchling pandas pytest | compile - --output-file requirements/fsspec.txt
printf '%s\n' 'executorlib[cache]' pytest | compile - --output-file requirements/executorlib.txt
# Airflow, whose tasks run by the executor of ours.
echo 'apache-airflow>=3.3,<4' | compile - --output-file requirements/airflow.txt
printf '%s\n' kedro | compile - --output-file requirements/kedro.txt
printf '%s\n' hydra-core pytest | compile - --output-file requirements/hydra.txt
printf '%s\n' hatchling pytest submitit | compile - --output-file requirements/submitit.txt
printf '%s\n' hatchling mcp | compile - --constraint requirements/dev.txt --output-file requirements/mcp.txt
printf '%s\n' hatchling opentelemetry-exporter-otlp-proto-http | compile - --constraint requirements/dev.txt --output-file requirements/opentelemetry.txt
# Clients of TES, whose server weft is; that of Toil wants an older Toil and an older `py-tes`.
printf '%s\n' py-tes pydantic-tes pytest requests | compile - --output-file requirements/tes.txt
echo toil-batch-system-tes | compile - --output-file requirements/toil-tes.txt
# The validator of RO-Crates, the last `rocrate` that has the context of RO-Crate 1.1, and the classes of OpenLineage's events.
printf '%s\n' roc-validator 'rocrate==0.13.0' openlineage-python | compile - --output-file requirements/crate.txt
# The schemas of Kubernetes, by which deploy/kubernetes is checked.
echo kubernetes-validate | compile - --output-file requirements/kubernetes.txt
# What makes a site of docs/.
printf '%s\n' furo myst-parser pystemmer sphinx | compile - --output-file requirements/site.txt
echo uv | compile - --constraint requirements/dev.txt --output-file requirements/uv.txt
# Those beside which `make bench NAME=peers` measures weft.
for peer in celery dramatiq[redis] hyperqueue joblib procrastinate,psycopg[binary] pgqueuer,asyncpg,uvloop ray rq; do
    name=${peer%%[,[]*}
    tr , '\n' <<<"$peer" | compile - --output-file "requirements/peers-$name.txt"
done
# What Hail's client needs of the package's requirements; `hail` itself comes without the others, a compiler and a cluster.
hail=$(mktemp)
trap 'rm -f "$hail"' EXIT
printf '%s\n' aiodns aiohttp azure-identity 'azure-mgmt-storage==20.1.0' azure-storage-blob boto3 dill google-auth \
    'google-auth-oauthlib<1' humanize 'janus<1.1' jproperties 'nest_asyncio<2' orjson 'pandas<3' 'python-json-logger<3' pyyaml \
    requests 'rich<13' 'setuptools<82' sortedcontainers tabulate typer 'uvloop<0.22' | compile - --output-file requirements/hail.txt
echo 'hail==0.2.139' | compile --no-deps - --output-file "$hail"
cat "$hail" >>requirements/hail.txt
# What Agave's client needs; `agavepy` itself comes without the others, which its command line and its tests want.
echo 'cloudpickle future jinja2 py python-dateutil requests requests-toolbelt setuptools<82 six websocket-client' | tr ' ' '\n' |
    compile - --output-file requirements/agave.txt
echo 'agavepy==0.9.5' | compile --no-deps - --output-file "$hail"
cat "$hail" >>requirements/agave.txt
