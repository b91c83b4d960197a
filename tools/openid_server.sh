#!/usr/bin/env bash
# Print the folder of the archives (jar) of mock-oauth2-server, an OpenID provider that others wrote: one version, from the registry
# of Maven, in .tools/openid. It needs Java and Maven. Where it cannot be had, it says why.
set -euo pipefail
cd "$(dirname "$0")/.."
version=2.1.10
digest=6667650eaee274be5421a63d250ba5b51fd7c4b1cced1512acf87ae0dd3d380e # of all archives in the order of their names, SHA-256
own=$PWD/.tools/openid

. tools/fetch_once.sh
fetch_once "$own" "$own/$version" mock-oauth2-server java mvn
cat >"$new/pom.xml" <<POM
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>weft</groupId><artifactId>openid</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>no.nav.security</groupId><artifactId>mock-oauth2-server</artifactId><version>$version</version>
  </dependency></dependencies>
</project>
POM
fetch Maven mvn -q -B -f "$new/pom.xml" dependency:copy-dependencies "-DoutputDirectory=$new/jars"
found=$(LC_ALL=C; cat "$new"/jars/*.jar | sha256sum)
if [ "${found%% *}" != "$digest" ]; then
    echo "the mock-oauth2-server $version of this registry is another one: $found" >&2
    exit 1
fi
mv "$new/jars" "$own/$version"
echo "$own/$version"
