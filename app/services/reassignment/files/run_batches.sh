#!/bin/bash
# Executes the batches of a plan in their order, each after the one before is complete, and stops at the first failure.
# It can be run again: it goes on after the last batch that is complete, and waits for one that is in progress.
#
# KAFKA_BOOTSTRAP       host:port of a broker
# KAFKA_COMMAND_CONFIG  properties of the client, if it needs some
# KAFKA_BIN             the folder of Kafka's tools; /opt/kafka/bin if it is not set
# POLL_SECONDS          between two looks at a batch
set -euo pipefail
cd "${BATCHES:-/batches}"

reassign() {
  "${KAFKA_BIN:-/opt/kafka/bin}/kafka-reassign-partitions.sh" --bootstrap-server "$KAFKA_BOOTSTRAP" \
    ${KAFKA_COMMAND_CONFIG:+--command-config "$KAFKA_COMMAND_CONFIG"} --reassignment-json-file "$@" </dev/null
}

configure() { # a broker, and what is to be changed
  "${KAFKA_BIN:-/opt/kafka/bin}/kafka-configs.sh" --bootstrap-server "$KAFKA_BOOTSTRAP" \
    ${KAFKA_COMMAND_CONFIG:+--command-config "$KAFKA_COMMAND_CONFIG"} \
    --alter --entity-type brokers --entity-name "$@" </dev/null
}

topics() {
  "${KAFKA_BIN:-/opt/kafka/bin}/kafka-topics.sh" --bootstrap-server "$KAFKA_BOOTSTRAP" \
    ${KAFKA_COMMAND_CONFIG:+--command-config "$KAFKA_COMMAND_CONFIG"} "$@" </dev/null
}

# --verify succeeds whatever it finds: its lines say what state a batch is in.
state() {
  local lines
  lines=$(reassign "$@" --verify) || return
  # A replica is named where its log directory is to change.
  if grep -qE '^Reassignment of (partition|replica) [^ ]+ is still in progress' <<<"$lines"; then
    echo in_progress
  elif grep -qE '^There is no active reassignment of partition|^Reassignment of partition [^ ]+ failed' <<<"$lines"; then
    echo other
  elif grep -qE '^Partition [^ ]+ (on broker [0-9]+ is (not )?being moved|(is not|cannot be) found in any live log dir)' \
    <<<"$lines"; then
    echo other
  elif grep -qE '^Reassignment of partition [^ ]+ (is completed?|completed successfully)' <<<"$lines"; then
    echo complete
  else
    echo "$lines" >&2
    echo other
  fi
}

if [ -s new-partitions ]; then
  while read -r topic partitions assignment; do
    if topics --describe --topic "${topic//./\\.}" | grep -qE "PartitionCount: *$partitions([^0-9]|$)"; then
      echo "$topic has $partitions partitions"
    else
      echo "$topic: creating partitions"
      topics --alter --topic "${topic//./\\.}" --partitions "$partitions" --replica-assignment "$assignment"
    fi
  done <new-partitions
fi

mapfile -t batches < <(sed -n 's/^execute //p' steps)
# A later batch may move a partition of an earlier one again: the last one that was begun is looked for from the end.
next=0
for ((i = ${#batches[@]} - 1; i >= 0; i--)); do
  begun=$(state "${batches[i]}" --preserve-throttles)
  if [ "$begun" = complete ]; then next=$((i + 1)); break; fi
  if [ "$begun" = in_progress ]; then next=$i; break; fi
done

number=0
while read -r action what value; do
  case $action in
    cordon)
      configure "$what" --add-config "cordoned.log.dirs=$value"
      continue
      ;;
    uncordon)
      configure "$what" --delete-config cordoned.log.dirs
      continue
      ;;
  esac
  batch=$what number=$((number + 1))
  if [ "$number" -le "$next" ]; then continue; fi
  now=$(state "$batch" --preserve-throttles)
  if [ "$now" != in_progress ]; then
    echo "$batch: executing"
    # shellcheck disable=SC2086 # several options
    reassign "$batch" --execute ${EXECUTE_OPTIONS:-}
  fi
  now=$(state "$batch")
  while [ "$now" = in_progress ]; do
    echo "$batch: in progress"
    sleep "${POLL_SECONDS:-10}"
    now=$(state "$batch")
  done
  if [ "$now" != complete ]; then
    echo "$batch: neither complete nor in progress; stopping" >&2
    exit 1
  fi
  echo "$batch: complete"
done <steps

if [ -s leader-election.json ]; then
  "${KAFKA_BIN:-/opt/kafka/bin}/kafka-leader-election.sh" --bootstrap-server "$KAFKA_BOOTSTRAP" \
    ${KAFKA_COMMAND_CONFIG:+--admin.config "$KAFKA_COMMAND_CONFIG"} \
    --election-type preferred --path-to-json-file leader-election.json
fi
echo "all batches are complete"
