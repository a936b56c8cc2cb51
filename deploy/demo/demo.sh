#!/bin/sh
# The demonstration's cluster, with Kafka's own tools alone:
#
#   demo.sh make        topics that have something to find: a broker that leads too much, a topic that no broker may lose
#   demo.sh describe    prints what Rackplan reads of a cluster
#
# BOOTSTRAP is the address of a broker, BIN the folder of Kafka's tools.
set -eu
BOOTSTRAP=${BOOTSTRAP:-kafka-1:9092}
BIN=${BIN:-/opt/kafka/bin}

create() { # name, replicas of each partition, further options
  name=$1 replicas=$2
  shift 2
  "$BIN/kafka-topics.sh" --bootstrap-server "$BOOTSTRAP" --create --if-not-exists --topic "$name" \
    --replica-assignment "$replicas" "$@"
}

case "${1:-}" in
make)
  create shop.orders 1:2,1:2,1:2,1:2,1:2,1:2,1:2,1:2,2:1,2:1,2:3,3:1
  create shop.payments 1:2:3,2:3:1,3:1:2,1:3:2,2:1:3,3:2:1 --config min.insync.replicas=3
  create shop.clicks 1,1,1,2 --config retention.ms=3600000
  for topic in shop.orders shop.payments shop.clicks; do
    "$BIN/kafka-producer-perf-test.sh" --topic $topic --num-records 20000 --record-size 1000 --throughput -1 \
      --producer-props "bootstrap.servers=$BOOTSTRAP" acks=all
  done
  ;;
describe)
  "$BIN/kafka-broker-api-versions.sh" --bootstrap-server "$BOOTSTRAP"
  "$BIN/kafka-topics.sh" --bootstrap-server "$BOOTSTRAP" --describe
  "$BIN/kafka-log-dirs.sh" --bootstrap-server "$BOOTSTRAP" --describe
  "$BIN/kafka-features.sh" --bootstrap-server "$BOOTSTRAP" describe
  ;;
*)
  echo "usage: demo.sh make|describe" >&2
  exit 2
  ;;
esac
