# BOOTSTRAP_SERVER, COMMAND_CONFIG (a properties file) and KAFKA_BIN (the folder of Kafka's tools; those of PATH if it
# is not set) are optional. The script stops at the first command that fails, and can be run again: what is there as
# planned is passed over, and nothing that exists is moved.
set -euo pipefail
BOOTSTRAP_SERVER=${BOOTSTRAP_SERVER:-localhost:9092}
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
run() {
  "${KAFKA_BIN:+$KAFKA_BIN/}$1" --bootstrap-server "$BOOTSTRAP_SERVER" \
    ${COMMAND_CONFIG:+--command-config "$COMMAND_CONFIG"} "${@:2}"
}
topics() { run kafka-topics.sh "$@"; }
reassign() { run kafka-reassign-partitions.sh --reassignment-json-file "$@"; }
is_there() { # a topic, a file of its planned replicas, and the number of partitions that it had
  local there planned
  there=$(topics --describe --topic "$1" 2> /dev/null |
    sed -nE 's/.*Partition: ?([0-9]+)[[:space:]]+Leader: ?[^[:space:]]+[[:space:]]+Replicas: ?([0-9,]+).*/\1 \2/p' |
    sort -n | sed 's/.* //' | tr , : | tail -n "+$(($3 + 1))" || true)
  planned=$(tr , '\n' < "$2" | tail -n "+$(($3 + 1))")
  if [ -z "$there" ]; then return 1; fi
  if [ "$there" = "$planned" ]; then return; fi
  echo "stopped: ${1//\\/} has other replicas than planned" >&2
  paste -d ' ' <(echo "$there") <(echo "$planned") | awk -v had="$3" \
    '$1 != $2 && ++n <= 5 { print "  partition " had + NR - 1 ": " $1 ", planned " $2 }' >&2
  exit 1
}
is_moving() { reassign "$1" --verify | grep 'is still in progress' > /dev/null; }
