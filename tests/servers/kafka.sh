#!/bin/sh
# Apache Kafka, one KRaft node that is both broker and controller.
# PORT is the broker; PORT+1 is the controller; PORT+2 the broker for user `weft`, password `weft`.
. "$(dirname "$0")/lib.sh"
VERSION=4.2.0
LOG4J=2.25.3

install() {
  need_apt java openjdk-17-jre-headless
  libs=$OPT/kafka-$VERSION
  [ -e "$libs/.ready" ] && return 0
  need_apt mvn maven
  cat >"$DIR/etc/pom.xml" <<POM
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>test</groupId><artifactId>kafka</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>
    <dependency><groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>$VERSION</version></dependency>
    <dependency><groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>$LOG4J</version></dependency>
  </dependencies>
</project>
POM
  mvn -q -B -f "$DIR/etc/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
    -DoutputDirectory="$libs" >"$DIR/log/mvn.log" 2>&1 || die "mvn failed, see $DIR/log/mvn.log"
  touch "$libs/.ready"
}

configure() {
  cat >"$DIR/etc/server.properties" <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$((PORT + 1))
listeners=PLAINTEXT://127.0.0.1:$PORT,CONTROLLER://127.0.0.1:$((PORT + 1)),SASL://127.0.0.1:$((PORT + 2))
advertised.listeners=PLAINTEXT://127.0.0.1:$PORT,SASL://127.0.0.1:$((PORT + 2))
controller.listener.names=CONTROLLER
inter.broker.listener.name=PLAINTEXT
listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL:SASL_PLAINTEXT
listener.name.sasl.sasl.enabled.mechanisms=PLAIN
listener.name.sasl.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required user_weft="weft";
log.dirs=$DIR/data
num.partitions=3
default.replication.factor=1
offsets.topic.replication.factor=1
offsets.topic.num.partitions=4
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
transaction.state.log.num.partitions=4
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
group.initial.rebalance.delay.ms=0
CONF
  cat >"$DIR/etc/log4j2.properties" <<CONF
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %p %c{1} %m%n
CONF
}

start() {
  install
  configure
  if [ ! -e "$DIR/data/meta.properties" ]; then
    java -cp "$libs/*" kafka.tools.StorageTool format -t weft-test-cluster-0001 \
      -c "$DIR/etc/server.properties" >"$DIR/log/format.log" 2>&1 || die "format failed, see $DIR/log/format.log"
  fi
  # Serial GC and C1 alone halve the start; the heap can be set with KAFKA_HEAP.
  spawn kafka java "-Xmx${KAFKA_HEAP:-512m}" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 \
    "-Dlog4j2.configurationFile=$DIR/etc/log4j2.properties" -cp "$libs/*" \
    kafka.Kafka "$DIR/etc/server.properties"
  wait_for kafka 240 port_open "$PORT"
  echo "127.0.0.1:$PORT"
}

init "$@"
case $ACTION in start) start ;; stop) halt ;; esac
