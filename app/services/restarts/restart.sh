#!/bin/bash
# Restarts brokers wave by wave. A wave begins when the brokers of the one before are back, no partition lacks replicas,
# and the preferred leaders lead again. It stops at the first failure.
#
#   bash restart.sh COMMAND [WAVE]   COMMAND restarts the broker $BROKER, whose pod is $POD, and returns once it has done
#                                    so; WAVE is the number of the first wave, 1 if it is not given
#   bash restart.sh 'ssh "kafka-$BROKER" systemctl restart kafka'
#   bash restart.sh 'kubectl delete pod "$POD"' 3
#
# KAFKA_BOOTSTRAP        host:port of brokers, several separated by commas; localhost:9092 if it is not set
# KAFKA_COMMAND_CONFIG   properties of the client, if it needs some
# KAFKA_BIN              the folder of Kafka's tools; the path, then /opt/kafka/bin, if it is not set
# POLL_SECONDS           between two looks at the cluster; 10 if it is not set
# MOST_WAIT_SECONDS      for a wave; 3600 if it is not set
# ALLOW_LACKING          yes begins although partitions lack replicas, and waits for no more than these to be left
set -euo pipefail

waves() { # a line for each wave: the ids of its brokers
  cat <<'WAVES'
@WAVES@
WAVES
}
pod_name='@POD_NAME@'

fail() {
  echo "stopped: $*" >&2
  exit 1
}

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "usage: bash restart.sh COMMAND [WAVE]" >&2
  exit 2
fi
command=$1 first=${2:-1}
bin=${KAFKA_BIN:-}
if [ -z "$bin" ] && ! command -v kafka-topics.sh >/dev/null; then bin=/opt/kafka/bin; fi
bin=${bin:+$bin/}

tool() { # one of Kafka's tools, the option that names the client's properties, and arguments
  "$bin$1.sh" --bootstrap-server "${KAFKA_BOOTSTRAP:-localhost:9092}" \
    ${KAFKA_COMMAND_CONFIG:+"$2" "$KAFKA_COMMAND_CONFIG"} "${@:3}" </dev/null
}

lacking() { # the partitions that lack replicas, a line each
  local below under
  below=$(tool kafka-topics --command-config --describe --under-min-isr-partitions) || return
  under=$(tool kafka-topics --command-config --describe --under-replicated-partitions) || return
  grep -oE 'Topic: *[^[:space:]]+[[:space:]]+Partition: *[0-9]+' <<<"$below"$'\n'"$under" | sort -u || true
}

is_healthy() { # the brokers of a wave
  local up now broker
  up=$(tool kafka-broker-api-versions --command-config 2>/dev/null | grep -oE '\(id: [0-9]+ rack:' | grep -oE '[0-9]+') ||
    return 1
  for broker in "$@"; do grep -qx "$broker" <<<"$up" || return 1; done
  now=$(lacking) || return 1
  [ -z "$(grep -vxF "${before:-none}" <<<"$now" || true)" ]
}

wait_for() { # the brokers of a wave: the cluster is healthy in two looks, since brokers may not be missed at once
  local looks=0 deadline=$((SECONDS + ${MOST_WAIT_SECONDS:-3600}))
  while [ "$looks" -lt 2 ]; do
    if is_healthy "$@"; then looks=$((looks + 1)); else looks=0; fi
    if [ "$SECONDS" -gt "$deadline" ]; then fail "brokers $* are not back, or partitions still lack replicas"; fi
    sleep "${POLL_SECONDS:-10}"
  done
}

restart() { # the brokers of a wave, at once
  local broker each processes=()
  for broker in "$@"; do
    BROKER=$broker POD=${pod_name//'{broker}'/$broker} bash -c "$command" </dev/null &
    processes+=($!)
  done
  for each in "${processes[@]}"; do wait "$each" || fail "the command failed for a broker of $*"; done
}

before=$(lacking) || fail "${KAFKA_BOOTSTRAP:-localhost:9092} does not answer as a broker"
if [ -n "$before" ] && [ "${ALLOW_LACKING:-}" != yes ]; then
  head -n 5 <<<"$before" >&2
  fail "$(grep -c . <<<"$before") partitions lack replicas before the first wave"
fi

number=0
mapfile -t lines < <(waves)
for line in "${lines[@]}"; do
  number=$((number + 1))
  if [ "$number" -lt "$first" ]; then continue; fi
  read -ra brokers <<<"$line"
  echo "wave $number of ${#lines[@]}: restarting ${brokers[*]}"
  restart "${brokers[@]}"
  wait_for "${brokers[@]}"
  # The preferred leader of a partition that lacks replicas may not be in sync, which the tool counts as a failure.
  tool kafka-leader-election --admin.config --election-type preferred --all-topic-partitions >/dev/null ||
    [ "${ALLOW_LACKING:-}" = yes ] || fail "preferred leaders could not be elected after wave $number"
done
echo "all waves are complete"
