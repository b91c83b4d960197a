#!/usr/bin/env bash
# Print the folder of the archives (jar) of mock-oauth2-server, an OpenID provider that others wrote: one version, from the registry
# of Maven, in .tools/openid. It needs Java and Maven. Where it cannot be had, it says why. Safe to repeat, and to run twice at once.
set -euo pipefail
cd "$(dirname "$0")/.."
version=2.1.10
digest=6667650eaee274be5421a63d250ba5b51fd7c4b1cced1512acf87ae0dd3d380e # of all archives in the order of their names, SHA-256
own=$PWD/.tools/openid

[ ! -d "$own/$version" ] || { echo "$own/$version"; exit 0; }
for program in java mvn; do
    command -v "$program" >/dev/null || { echo "there is no $program to get mock-oauth2-server with" >&2; exit 1; }
done
mkdir -p "$own"
exec 9>"$own/.lock"
flock 9
[ ! -d "$own/$version" ] || { echo "$own/$version"; exit 0; }
new=$(mktemp -d "$own/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
cat >"$new/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>weft</groupId><artifactId>openid</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>no.nav.security</groupId><artifactId>mock-oauth2-server</artifactId><version>$version</version>
  </dependency></dependencies>
</project>
POM
if ! timeout 300 mvn -q -B -f "$new/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$new/jars" >"$new/log" 2>&1; then
    tail -n 3 "$new/log" >&2
    echo 'Maven could not get mock-oauth2-server' >&2
    exit 1
fi
found=$(LC_ALL=C; cat "$new"/jars/*.jar | sha256sum)
if [ "${found%% *}" != "$digest" ]; then
    echo "the mock-oauth2-server $version of this registry is another one: $found" >&2
    exit 1
fi
mv "$new/jars" "$own/$version"
echo "$own/$version"
