#!/bin/bash
# Executes the batches of a plan in their order with Kafka's own tools, each after the one before is complete, and stops
# at the first failure. It can be run again: it goes on after the last batch that is complete, and waits for one that is
# in progress.
#
#   bash run.sh               execute the plan
#   bash run.sh --dry-run     print what would be done, and look at the cluster without changing it
#   bash run.sh --rollback    go back to the lists before the plan, from wherever it stands
#
# KAFKA_BOOTSTRAP        host:port of a broker; localhost:9092 if it is not set
# KAFKA_COMMAND_CONFIG   properties of the client, if it needs some
# KAFKA_BIN              the folder of Kafka's tools; the path, then /opt/kafka/bin, if it is not set
# THROTTLE               bytes a second that a broker replicates in and out, in place of the plan's, also for a batch in
#                        progress; 0 is no throttle
# POLL_SECONDS           between two looks at a batch; 10 if it is not set
# MOST_BELOW_MIN_ISR     partitions that may be below min.insync.replicas when a batch begins; 0 if it is not set
# MOST_UNDER_REPLICATED  partitions that may be under-replicated when a batch begins; no limit if it is not set
# ALARM                  a command that fails while no batch may begin
# RUN_LOG                a file of what was done, and when; run.log if it is not set
set -euo pipefail
cd "${BATCHES:-$(dirname "${BASH_SOURCE[0]}")}"

fail() { # a message; another run goes on from here
  note failed "$*"
  echo "stopped: $*" >&2
  exit 1
}

note() { # an event and what it is about, for the log: a line that begins with the time
  local line="$*"
  if [ -z "$dry_run" ]; then
    printf '%s %s\n' "${moment:-$(date -u +%Y-%m-%dT%H:%M:%SZ)}" "${line//[$'\r\n']/ }" >>"$log" 2>/dev/null || true
  fi
}

dry_run='' direction=execute log=${RUN_LOG:-run.log}
for option in "$@"; do
  case $option in
    --dry-run) dry_run=yes ;;
    --rollback) direction=rollback ;;
    *)
      echo "run.sh: unknown option $option; there are --dry-run and --rollback" >&2
      exit 2
      ;;
  esac
done

bootstrap=${KAFKA_BOOTSTRAP:-localhost:9092}
bin=${KAFKA_BIN:-}
if [ -z "$bin" ] && ! command -v kafka-topics.sh >/dev/null; then bin=/opt/kafka/bin; fi
bin=${bin:+$bin/}
config=(${KAFKA_COMMAND_CONFIG:+--command-config "$KAFKA_COMMAND_CONFIG"})

tool() { # one of Kafka's tools, and its arguments; it reads none of this script's input
  "$bin$1.sh" --bootstrap-server "$bootstrap" ${config[@]+"${config[@]}"} "${@:2}" </dev/null
}
reassign() { tool kafka-reassign-partitions --reassignment-json-file "$@"; }
configure() { tool kafka-configs --alter "$@" >/dev/null; }

# What the plan states, one value a line.
stated() { sed -n "s/^$1 //p" plan.txt; }
throttle=${THROTTLE:-$(stated throttle)}
if [ "${throttle:-0}" = 0 ]; then throttle=; fi
options=()
if [ "$(stated additional)" = yes ]; then options+=(--additional); fi

partitions_of() { # a file of a batch: its partitions, as topic-partition
  grep -oE '"topic": ?"[^"]+", ?"partition": ?[0-9]+' "$1" | sed -E 's/"topic": ?"([^"]+)", ?"partition": ?/\1-/'
}

brokers_of() { # files of a batch: the brokers of their lists
  grep -ohE '"replicas": ?\[[0-9, ]*\]' "$@" | grep -oE '[0-9]+' | sort -nu
}

# Rollbacks name the log directories that replicas were in. The tool asks their brokers for these, which may be down.
lists=
if [ "$(stated log_dirs)" != yes ] && grep -qs '"log_dirs":' ./*-rollback.json; then lists=$(mktemp -d); fi
listed() { # a file, or a copy of it without log directories that the plan does not choose
  if [ -z "$lists" ]; then echo "$1"; return; fi
  sed -E 's/,"log_dirs":\[("([^"\\]|\\.)*",?)*\]//g' "$1" >"$lists/$1"
  echo "$lists/$1"
}

denied() { # the output of a tool that failed, and the rights that it needs: Kafka names no more than the kind of resource
  if grep -qE '[Aa]uthorization(Exception| failed)|needs [A-Z_]+ permission|is not authorized' <<<"$1"; then
    echo "Kafka denied this; it needs $2" >&2
  fi
}

verified() { # a file: the lines of the tool; if it fails, they have the reason
  local lines
  lines=$(reassign "$(listed "$1")" --verify --preserve-throttles) && echo "$lines" && return
  echo "$lines" >&2
  denied "$lines" "DESCRIBE on the cluster and on the topics"
  return 1
}

# --verify succeeds whatever it finds: its lines say what state a batch is in.
state() { # a file: complete, other, or in_progress and how many of its partitions are complete
  local lines completed='^Reassignment of partition [^ ]+ (is completed?|completed successfully)'
  lines=$(verified "$1") || return
  # A replica is named where its log directory is to change.
  if grep -qE '^Reassignment of (partition|replica) [^ ]+ is still in progress' <<<"$lines"; then
    echo "in_progress $(grep -cE "$completed" <<<"$lines") of $(partitions_of "$1" | wc -l)"
  elif grep -qE '^There is no active reassignment of partition|^Reassignment of partition [^ ]+ failed' <<<"$lines"; then
    echo other
  elif grep -qE '^Partition [^ ]+ (on broker [0-9]+ is (not )?being moved|(is not|cannot be) found in any live log dir)' \
    <<<"$lines"; then
    echo other
  elif grep -qE "$completed" <<<"$lines"; then
    echo complete
  else
    echo "$lines" >&2
    echo other
  fi
}

# --verify reports a partition as in progress whichever list it moves to, also the list of another batch.
leads_elsewhere() { # a file: whether all running reassignments of its partitions lead to other lists; unknown before Kafka 2.6
  local running
  running=$(tool kafka-reassign-partitions --list 2>/dev/null) || return
  grep -oE '"topic": ?"[^"]+", ?"partition": ?[0-9]+, ?"replicas": ?\[[0-9, ]*\]' "$1" |
    sed -E 's/"topic": ?"([^"]+)", ?"partition": ?([0-9]+), ?"replicas": ?/\1-\2: /; s/[][]//g; s/, /,/g' |
    awk '
      FNR == NR { wanted[$1] = "," $2; next }
      $1 in wanted && $2 == "replicas:" {
        gone = ","
        for (at = 4; at < NF; at++) if ($at == "removing:") gone = "," $(at + 1)
        sub(/\.$/, ",", gone)
        sub(/\.$/, "", $3)
        count = split($3, replicas, ",")
        list = ""
        for (at = 1; at <= count; at++) if (!index(gone, "," replicas[at] ",")) list = list "," replicas[at]
        if (list == wanted[$1]) here = 1; else elsewhere = 1
      }
      END { exit !(elsewhere && !here) }' - <(echo "$running")
}

live_brokers() {
  tool kafka-broker-api-versions 2>/dev/null | grep -oE '\(id: [0-9]+ rack:' | grep -oE '[0-9]+' | sort -nu
}

# --- Before anything is changed

check_files() {
  if [ -f SHA256SUMS ] && command -v sha256sum >/dev/null; then
    sha256sum --check --quiet --strict SHA256SUMS >&2 || fail "a file of the plan was changed, or is missing"
  fi
}

check_cluster() {
  local printed
  printed=$(tool kafka-topics --list 2>&1 >/dev/null) || fail "$bootstrap does not answer as a broker: $printed"
}

unlike() { # a file: a line for each partition that has other replicas, with its name first
  local lines
  lines=$(verified "$1") || return
  sed -nE 's/^(There is no active reassignment|Reassignment) of partition ([^ ,]+)(, but| failed)/\2 &/p' <<<"$lines" | awk '
    { # The replicas in another order, as a cancelled reassignment leaves them, are no difference.
      split($0, lists, / replica set is | rather than /)
      sub(/\.$/, "", lists[3])
      differ = (split(lists[2], there, ",") != split(lists[3], wanted, ",")) || lists[3] == ""
      for (each in there) if (!index("," lists[3] ",", "," there[each] ",")) differ = 1
    }
    differ'
}

check_unchanged() { # the file of a batch, and that of its inverse; Kafka may have executed one part alone
  local before after lines
  before=$(unlike "$2") || fail "$2 cannot be verified"
  if [ -z "$before" ]; then return; fi
  after=$(unlike "$1") || fail "$1 cannot be verified"
  lines=$(awk 'FNR == NR { other[$1]; next } $1 in other' <(echo "$after") <(echo "$before") | cut -d ' ' -f 2-)
  if [ -n "$lines" ]; then
    head -n 20 <<<"$lines" >&2
    fail "these lists are not those that the plan was made from: they have changed since, or this is another cluster"
  fi
}

check_others() { # the file of a batch
  local running
  if ! running=$(tool kafka-reassign-partitions --list 2>&1); then
    if grep -qF 'list is not a recognized option' <<<"$running"; then return; fi # before Kafka 2.6
    fail "reassignments that run cannot be listed: $running"
  fi
  running=$(grep -oE '^[^ ]+-[0-9]+: replicas:' <<<"$running" | sed 's/: replicas:$//' |
    grep -vxFf <(partitions_of "$1") || true)
  if [ -n "$running" ] && [ "${#options[@]}" = 0 ]; then
    fail "another reassignment is running: $(head -n 5 <<<"$running" | tr '\n' ' ')"
  fi
}

described() { # an option that chooses partitions: these, as topic-partition
  local lines
  if ! lines=$(tool kafka-topics --describe "--$1-partitions"); then
    denied "$lines" "DESCRIBE and DESCRIBE_CONFIGS on the topics"
    fail "$1 partitions cannot be listed: $lines"
  fi
  sed -nE 's/.*Topic: ?([^[:space:]]+)[[:space:]]+Partition: ?([0-9]+).*/\1-\2/p' <<<"$lines"
}

awaited() { # the partitions that the plan knows to wait for brokers that are down
  local each
  for each in $(sed -n 's/^await //p' execute-steps.txt); do partitions_of "$each-execute.json"; done
}

await_brokers() { # the file of a batch that Kafka completes only when brokers are back
  local down leaderless
  down=$(brokers_of "$1" | grep -vxFf <(live_brokers) | paste -sd' ' || true)
  leaderless=$(described unavailable) || exit
  leaderless=$(grep -xFf <(partitions_of "$1") <<<"$leaderless" | head -n 5 | paste -sd' ' || true)
  if [ -z "$down$leaderless" ]; then return; fi
  down="$1 waits for brokers that are down${down:+, $down}${leaderless:+; without a leader: $leaderless}"
  if [ -n "$dry_run" ]; then
    echo "$down"
    return
  fi
  if [ -s leader-election.json ]; then elect || true; fi
  fail "$down; all batches before it are complete; run this again when the brokers are back"
}

check_replication() {
  local found count moved
  found=$(described under-min-isr) || exit
  found=$(grep -vxFf <(awaited) <<<"$found" || true)
  count=$(grep -c . <<<"$found" || true)
  if [ "$count" -gt "${MOST_BELOW_MIN_ISR:-0}" ]; then
    head -n 5 <<<"$found" >&2
    moved=$(grep -cxFf <(for each in *-execute.json; do partitions_of "$each"; done) <<<"$found" || true)
    fail "$count partitions are below their min.insync.replicas; the plan moves $moved of these, and MOST_BELOW_MIN_ISR=$count lets it"
  fi
  if [ -n "${MOST_UNDER_REPLICATED:-}" ]; then
    found=$(described under-replicated) || exit
    found=$(grep -c . <<<"$found" || true)
    if [ "$found" -gt "$MOST_UNDER_REPLICATED" ]; then
      fail "$found partitions are under-replicated; the limit is $MOST_UNDER_REPLICATED"
    fi
  fi
  if [ -n "${ALARM:-}" ]; then bash -c "$ALARM" </dev/null || fail "the alarm command failed: $ALARM"; fi
}

# --- Throttles
#
# --throttle configures every broker of the lists, and --verify takes the throttle away. Neither returns while one of
# these brokers is down: then the brokers that are up are configured one by one, and lose it one by one.

LEADERS=leader.replication.throttled FOLLOWERS=follower.replication.throttled
WITHIN=replica.alter.log.dirs.io.max.bytes.per.second

brokers_up() { grep -xFf <(brokers_of "$@") <(live_brokers) || true; } # of the lists of files
all_are_up() { [ "$(brokers_up "$@")" = "$(brokers_of "$@")" ]; }
topics_of() { partitions_of "$1" | sed -E 's/-[0-9]+$//' | sort -u; }

throttled=() # options of --execute
set_throttles() { # the file of a batch, and that of its inverse
  throttled=()
  if [ -z "$throttle" ]; then return; fi
  note throttled "$1 $throttle bytes/s"
  if all_are_up "$1" "$2"; then
    throttled=(--throttle "$throttle")
    if [ "$(stated log_dirs)" = yes ]; then throttled+=(--replica-alter-log-dirs-throttle "$throttle"); fi
    return
  fi
  echo "$1: a broker of its lists is down; the throttle is set for each of the others"
  limit_each "$1" "$2"
}

limit_each() { # the file of a batch, and that of its inverse
  local each rates="$LEADERS.rate=$throttle,$FOLLOWERS.rate=$throttle"
  if [ "$(stated log_dirs)" = yes ]; then rates+=",$WITHIN=$throttle"; fi
  for each in $(brokers_up "$1" "$2"); do
    configure --entity-type brokers --entity-name "$each" --add-config "$rates"
  done
  for each in $(topics_of "$1"); do
    configure --entity-type topics --entity-name "$each" --add-config "$LEADERS.replicas=*,$FOLLOWERS.replicas=*"
  done
}

change_throttles() { # the file of a batch that a run before has begun, and that of its inverse
  if [ -z "${THROTTLE:-}" ]; then return; fi
  note throttled "$1 ${throttle:-0} bytes/s"
  echo "$1: its throttle is ${throttle:-none} from here on"
  if [ -n "$throttle" ]; then limit_each "$1" "$2"; else unlimit_each "$1" "$2"; fi
}

remove() { # the type and name of an entity, and configurations, of which some may be missing
  local each all
  all=$(IFS=,; echo "${*:3}")
  configure --entity-type "$1" --entity-name "$2" --delete-config "$all" 2>/dev/null && return
  for each in "${@:3}"; do
    configure --entity-type "$1" --entity-name "$2" --delete-config "$each" 2>/dev/null || true
  done
}

unlimit_each() { # the file of a batch, and that of its inverse
  local each
  for each in $(brokers_up "$1" "$2"); do remove brokers "$each" "$LEADERS.rate" "$FOLLOWERS.rate" "$WITHIN"; done
  for each in $(topics_of "$1"); do remove topics "$each" "$LEADERS.replicas" "$FOLLOWERS.replicas"; done
}

remove_throttles() { # the file of a batch that is complete or was rejected, and that of its inverse
  # This run limits nothing, nor did one before it: throttles are somebody else's.
  if [ -z "$throttle" ] && [ "$(stated throttle)" = 0 ] && ! grep -qs ' throttled ' "$log"; then return; fi
  if all_are_up "$1" "$2"; then
    reassign "$1" --verify >/dev/null && return
    unlimit_each "$1" "$2" # without the right to change brokers, the tool has set and leaves those of topics
    return 1
  fi
  unlimit_each "$1" "$2"
  echo "$1: a broker of its lists is down; if it has a throttle, that stays until this is run again" >&2
}

# --- Progress

copied_bytes() { # a batch: bytes that its new replicas have, of those that they get; with `all`, those of all or nothing
  local brokers topics
  if [ ! -f copies.txt ]; then return; fi
  brokers=$(awk -v batch="$1" '$1 == batch { print $3 }' copies.txt | sort -nu | grep -xFf <(live_brokers) | paste -sd,)
  topics=$(awk -v batch="$1" '$1 == batch { sub(/-[0-9]+$/, "", $2); print $2 }' copies.txt | sort -u | paste -sd,)
  if [ -z "$brokers" ]; then return; fi
  tool kafka-log-dirs --describe --broker-list "$brokers" --topic-list "$topics" 2>/dev/null | tr '{' '\n' | awk -v batch="$1" -v all="${2:-}" '
    FNR == NR { if ($1 == batch) { total += $4; left++; expected[$3 " " $2] = $4 }; next }
    match($0, /"broker":[0-9]+/) { broker = substr($0, RSTART + 9, RLENGTH - 9) }
    match($0, /"partition":"[^"]+"/) {
      name = broker " " substr($0, RSTART + 13, RLENGTH - 14)
      if (name in expected && match($0, /"size":[0-9]+/)) {
        size = substr($0, RSTART + 7, RLENGTH - 7) + 0
        done += all || size < expected[name] ? size : expected[name]
        left--
        delete expected[name]
      }
    }
    END { if (!all || !left) printf "%.0f %.0f\n", done, total }' copies.txt -
}

began=0 first_bytes=0
show_progress() { # a batch, and how many of its partitions are complete; `began` and `first_bytes` are of its first look
  local copied='' total='' now line
  if [ "$direction" = execute ]; then read -r copied total <<<"$(copied_bytes "$1" || true)"; fi
  line="batch $1: in progress, $2 partitions"
  if [ -n "${total:-}" ] && [ "$total" -gt 0 ]; then
    now=$(date +%s)
    if [ "$began" = 0 ]; then began=$now first_bytes=$copied; fi
    line+=", $copied of $total bytes"
    if [ "$now" -gt "$began" ] && [ "$copied" -gt "$first_bytes" ]; then
      local rate=$(((copied - first_bytes) / (now - began)))
      if [ "$rate" -gt 0 ]; then line+=", $rate bytes/s, $(((total - copied) / rate)) s left"; fi
    fi
  fi
  if [ -t 1 ]; then printf '\r\033[K%s' "$line"; else echo "$line"; fi
}

running='' # the file of the batch that was begun and is not known to be complete
on_the_way_out() {
  if [ -n "$lists" ]; then rm -r "$lists"; fi
  if [ -n "$running" ]; then
    echo
    echo "$running goes on in the cluster${throttle:+ with its throttle}; run this again to wait for it and go on" >&2
    note interrupted "$running"
  fi
}
trap on_the_way_out EXIT
trap 'exit 130' INT TERM HUP

# --- Steps

run_batch() { # its number, its file, and that of its inverse
  local now looked moment copied printed rejected='' limited=''
  now=$(state "$2")
  # Kafka never completes a list that is to lose a replica which is still being added, so that what runs is cancelled.
  if [[ $now = in_progress* ]] && [ "$direction" = rollback ] && [ -z "$dry_run" ]; then
    echo "$2: cancelling what runs"
    note cancelling "$2"
    reassign "$(listed "$2")" --cancel --preserve-throttles >/dev/null
    while [[ $now = in_progress* ]]; do
      sleep 1
      now=$(state "$2")
    done
  fi
  if [[ $now = in_progress* ]]; then
    if [ -z "$dry_run" ]; then change_throttles "$2" "$3"; fi
  else
    if [ "$direction" = execute ]; then
      check_replication
      check_others "$2"
      # Where nothing is executed, later batches find the lists before those that come first.
      if [ -z "$dry_run" ] || [ "$number" = $((next + 1)) ]; then check_unchanged "$2" "$3"; fi
    fi
    if [ -n "$dry_run" ]; then
      echo "would execute $2: $(partitions_of "$2" | wc -l) partitions, $(awk -v batch="$1" \
        '$1 == batch { replicas++; bytes += $4 } END { printf "%d replicas, %d bytes", replicas, bytes }' copies.txt 2>/dev/null)"
      return
    fi
    echo "$2: executing"
    set_throttles "$2" "$3"
    note executing "$2"
    # Kafka may have rejected a part alone: the rest is waited for.
    printed=$(reassign "$2" --execute ${options[@]+"${options[@]}"} ${throttled[@]+"${throttled[@]}"}) || rejected=yes
    grep -vE '^(\{|$|Current partition|Save this|Successfully)' <<<"$printed" || true
    if [ -n "$rejected" ]; then
      denied "$printed" "ALTER on the cluster${throttle:+; for the throttle ALTER_CONFIGS on the cluster and on the topics}"
    fi
    note begun "$2"
  fi
  if [ -n "$dry_run" ]; then
    echo "$2 is in progress"
    return
  fi
  running=$2 began=0 looked=$(date +%s)
  now=$(state "$2")
  while [[ $now = in_progress* ]]; do
    looked=$(date +%s)
    show_progress "$1" "${now#* }"
    sleep "${POLL_SECONDS:-10}"
    now=$(state "$2")
  done
  # The tool asks one broker for the lists and the controller for what runs: a batch that is complete in between, or of
  # which that broker has yet to learn, looks like neither.
  for _ in 1 2 3 4 5; do
    if [ "$now" != other ] || [ -n "$rejected" ]; then break; fi
    sleep 1
    now=$(state "$2")
  done
  running='' moment=$(date -u +%Y-%m-%dT%H:%M:%SZ) looked=$(($(date +%s) - looked))
  if [ -t 1 ]; then printf '\r\033[K'; fi
  remove_throttles "$2" "$3" || limited=yes
  if [ "$now" != complete ]; then fail "$2 is neither complete nor in progress${rejected:+: Kafka has rejected it}"; fi
  if [ -n "$limited" ]; then fail "$2 is complete, but its throttle cannot be removed"; fi
  if [ "$direction" = execute ]; then read -r copied _ <<<"$(copied_bytes "$1" all || true)"; fi
  # The batch was completed within the last $looked seconds.
  note complete "$2 ${copied:-unknown} bytes $looked s"
  echo "$2: complete"
}

create_partitions() {
  local topic count assignment
  while read -r topic count assignment; do
    if tool kafka-topics --describe --topic "${topic//./\\.}" | grep -qE "PartitionCount: *$count([^0-9]|$)"; then
      echo "$topic has $count partitions"
    elif [ -n "$dry_run" ]; then
      echo "would create partitions of $topic, $count in all"
    else
      echo "$topic: creating partitions"
      tool kafka-topics --alter --topic "${topic//./\\.}" --partitions "$count" --replica-assignment "$assignment"
    fi
  done <created-partitions.txt
}

change_cordon() { # a broker, and the change; a run before may have made it, and Kafka deletes only what is set
  local printed
  if [ -n "$dry_run" ]; then
    echo "would change broker $1: ${*:2}"
    return
  fi
  printed=$(configure --entity-type brokers --entity-name "$1" "${@:2}" 2>&1) && return
  grep -qF 'Invalid config(s): cordoned.log.dirs' <<<"$printed" || fail "broker $1 refuses ${*:2}: $printed"
}

elect() {
  if [ -n "$dry_run" ]; then
    echo "would let the preferred leaders lead"
    return
  fi
  "${bin}kafka-leader-election.sh" --bootstrap-server "$bootstrap" \
    ${KAFKA_COMMAND_CONFIG:+--admin.config "$KAFKA_COMMAND_CONFIG"} \
    --election-type preferred --path-to-json-file leader-election.json </dev/null
}

file_of() { echo "$1-$direction.json"; }
inverse_of() { if [ "$direction" = execute ]; then echo "$1-rollback.json"; else echo "$1-execute.json"; fi; }

check_files
check_cluster
note plan "$(stated hash)"
if [ "$direction" = execute ] && [ -s created-partitions.txt ]; then create_partitions; fi

if [ "$direction" = rollback ]; then options=(--additional); fi
steps=$direction-steps.txt
mapfile -t batches < <(sed -n 's/^execute //p' "$steps")
# A later batch may move a partition of an earlier one again: the last one that was begun is looked for from the end.
next=0
for ((i = ${#batches[@]} - 1; i >= 0; i--)); do
  begun=$(state "$(file_of "${batches[i]}")") || fail "$(file_of "${batches[i]}") cannot be verified"
  if [ "$begun" = complete ]; then
    next=$((i + 1))
    break
  fi
  if [[ $begun = in_progress* ]] && ! leads_elsewhere "$(file_of "${batches[i]}")"; then
    next=$i
    break
  fi
done

if [ "$next" -gt 0 ] && [ -z "$dry_run" ]; then # the run before may have ended before it took the throttle away
  remove_throttles "$(file_of "${batches[next - 1]}")" "$(inverse_of "${batches[next - 1]}")" ||
    fail "the throttle of the run before cannot be removed"
fi

number=0
while read -r action what value; do
  case $action in
    cordon) change_cordon "$what" --add-config "cordoned.log.dirs=$value" ;;
    await) if [ "$number" -ge "$next" ]; then await_brokers "$(file_of "$what")"; fi ;;
    uncordon) change_cordon "$what" --delete-config cordoned.log.dirs ;;
    execute)
      number=$((number + 1))
      if [ "$number" -gt "$next" ]; then run_batch "$what" "$(file_of "$what")" "$(inverse_of "$what")"; fi
      ;;
  esac
done <"$steps"

if [ "$direction" = execute ] && [ -s leader-election.json ]; then elect; fi
if [ -n "$dry_run" ]; then
  echo "nothing was changed"
else
  note finished "$direction"
  echo "all batches are complete"
fi
