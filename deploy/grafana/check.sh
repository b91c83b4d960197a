#!/bin/sh
# check.sh: the boards are what `boards.py` writes, and a Prometheus of Debian that scrapes a `weft up` answers each of their
# queries by names that weft has. Both are started for it in a directory that is removed. It sees a wrong name, too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
python=$top/.venv/bin/python weft=$top/.venv/bin/weft
prometheus=$("$top/tools/debian_program.sh" prometheus)
tree=$(mktemp -d)
port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
scraping=
finish() {
    [ -z "$scraping" ] || kill "$scraping"
    "$weft" down --home "$tree/home" >/dev/null 2>&1 || true
    rm -rf "$tree"
}
trap finish EXIT

"$python" "$here/boards.py" --check
"$weft" up --detach --port 0 --home "$tree/home" >/dev/null 2>&1
seq 20 | WEFT_HOME=$tree/home "$weft" each -- echo >/dev/null 2>&1
"$python" - "$tree/home/client.json" "$tree" <<'END'
import json, pathlib, sys
client, tree = json.load(open(sys.argv[1])), pathlib.Path(sys.argv[2])
(tree / "token").write_text(client["token"])
(tree / "prometheus.yml").write_text(f"""
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: weft
    authorization: {{credentials_file: {tree}/token}}
    static_configs: [{{targets: ["{client["url"].split("//")[1]}"]}}]
""")
END
"$prometheus" --config.file="$tree/prometheus.yml" --storage.tsdb.path="$tree/data" --log.level=error \
    --web.listen-address="127.0.0.1:$port" &
scraping=$!
"$python" - "http://127.0.0.1:$port/api/v1/query?query=count_over_time(weft_jobs%5B1m%5D)" <<'END'
import json, sys, time, urllib.request
end = time.monotonic() + 60
while True:  # rates need two samples
    try:
        result = json.load(urllib.request.urlopen(sys.argv[1], timeout=5))["data"]["result"]
        if result and int(result[0]["value"][1]) >= 3:
            break
    except OSError:
        pass
    if time.monotonic() > end:
        sys.exit("check: Prometheus has no samples")
    time.sleep(0.5)
END
"$python" "$here/check.py" "http://127.0.0.1:$port"
# What it must refuse: a metric, a label and a query that there are not.
for wrong in 's/weft_jobs)/weft_tasks)/' 's/by (state)/by (colour)/' 's/sum by (state)/sum by state)/'; do
    mkdir "$tree/wrong"
    cp "$here/check.py" "$tree/wrong"
    sed "$wrong" "$here/weft-jobs.json" >"$tree/wrong/weft-jobs.json"
    ! "$python" "$tree/wrong/check.py" "http://127.0.0.1:$port" >/dev/null || { echo "check: nothing was wrong after $wrong" >&2; exit 1; }
    rm -r "$tree/wrong"
done
