"""Warnings: conditions that a caller should know and that did not prevent the answer."""

from collections.abc import Mapping

from app.services.bodies import ABSENT, AnswerRecord, ListOf

NAMED_MEMBERS = 20

CAUTIONS: Mapping[str, str] = {
    "added_brokers_up": "Brokers in `add_brokers` are up already; they mean themselves.",
    "addition_not_known": "The tags of clients have too many combinations to search for the fewest clients to add.",
    "algorithm_assumed": "The kind of controller is unknown; KRaft is assumed, which places as `striped`.",
    "algorithm_not_in_version": "The placement algorithm is not in the stated release of Kafka.",
    "already_reassigning": "Partitions of the reassignment are being reassigned; Kafka accepts it only with "
    "`--additional`.",
    "assignment_from_the_future": "The assignment of a member has a newer version than is known, and is read as "
    "the newest known one.",
    "assignment_not_recorded": "The snapshot does not have the assignment of the members.",
    "assignor_fails": "Kafka's own assignor fails in steps of a share group, whose members keep what they have.",
    "assignor_ignores_racks": "The assignor does not use racks.",
    "assignor_ignores_tags": "The assignor places standbys by load alone.",
    "batch_never_completes": "Batches copy no faster than producers write to their partitions.",
    "below_min_isr": "Partitions have fewer replicas than `min.insync.replicas`; Kafka rejects writes with `acks=all`.",
    "best_standbys_not_known": "The tags of clients have too many combinations to search for the optimal standbys.",
    "brokers_of_earlier_snapshot": "Brokers have replicas and are not listed; they are down, in the racks that "
    "the newest snapshot before has.",
    "brokers_not_restarted": "Brokers are fenced or down, and in no wave of a restart.",
    "brokers_without_rack": "Some brokers have no rack.",
    "bytes_not_balanced": "Added brokers get their share of replicas, and less than half of the mean bytes.",
    "catch_up_unknown": "The rate at which restarted brokers catch up is not stated; durations leave it out.",
    "classic_protocol_only": "The prediction is for the classic protocol; the broker's own assignor (KIP-1071) "
    "has no rack- aware standbys.",
    "client_not_compared": "The assignor of the leader's client library was not compared.",
    "clients_without_tag": "Some clients lack a listed tag.",
    "consumers_too_few": "`max` is below the consumers that are needed, so that lag grows.",
    "cordoned_brokers": "All log directories of brokers are cordoned, so that Kafka assigns no new replica to them.",
    "cordoned_brokers_left_out": "Cordoned brokers get no replica.",
    "cordoned_brokers_receive": "The reassignment adds replicas to cordoned brokers, which Kafka rejects.",
    "cordoned_log_dirs": "Some log directories of brokers are cordoned.",
    "cordons_lifted": "Batches are executed while cordoned brokers are uncordoned, since their lists contain them.",
    "counts_not_balanced": "Added brokers get their share of bytes, and over twice the mean count of replicas.",
    "differs_after_upgrade": "A newer release of Kafka has another answer.",
    "empty_subscription": "Members subscribe to no topic.",
    "estimated_sizes": "Unknown sizes of partitions were estimated, as requested.",
    "factor_lowered": "Partitions get fewer replicas than 2, or than other partitions of the topic.",
    "fenced_brokers_left_out": "Fenced brokers get no replica, and their racks do not count for clients.",
    "follower_fetching_ignored": "Consumers fetch from the replica in their rack, and racks are unknown.",
    "forced_value_without_broker": "No broker has a forced value of an attribute; its share stays unassigned.",
    "group_not_stable": "The group was rebalancing, or empty, at the time of the snapshot.",
    "group_partitions_missing": "Recorded groups name partitions that their topics lack.",
    "group_texts_disagree": "The texts of groups are not of one moment.",
    "group_topics_missing": "Recorded groups name topics that the snapshot lacks.",
    "groups_may_rebalance": "Groups rebalance if the coordinator looks while a batch copies.",
    "groups_not_described": "The description of groups has errors.",
    "isr_unknown": "The snapshot has no in-sync replicas; all replicas count as in sync.",
    "kafka_version_assumed": "The brokers report no patch release; the first of the line is stored.",
    "kafka_version_unsupported": "The release that the brokers report is not supported, and is not stored.",
    "lags_assumed": "Clients have no lag for previous tasks.",
    "lags_of_unknown_tasks": "Lags are given for tasks that do not exist.",
    "leaders_not_evacuated": "Partitions without another replica in sync are still led by evacuated brokers.",
    "lines_skipped": "Lines of a text were ignored, as logs, commands and what a shell prints.",
    "local_bytes_copied": "Topics with remote storage move: bytes on disks count, and Kafka may copy less.",
    "local_bytes_not_copied": "Topics with remote storage move: only what is not uploaded yet counts as copied.",
    "log_dir_moves_in_progress": "Replicas were being moved between log directories of their broker at the time of "
    "the snapshot; plans start from their destinations.",
    "log_dirs_in_use": "Topics that may not move have replicas in log directories that are drained.",
    "log_dirs_avoided": "Log directories of brokers have no place for some replicas, which are on other brokers.",
    "log_dirs_unknown": "The log directories of replicas are unknown; the replicas stay where they are.",
    "member_ids_assumed": "Clients of a streams group list no members, whose ids decide ties.",
    "members_without_rack": "Members without `client.rack` are assigned partitions as if they were in every rack.",
    "log_dirs_not_compared": "The snapshot has no log directories; moves between those of a broker count as left.",
    "log_not_recorded": "The log of an execution is not recorded: the plan is not done, or no batch is complete.",
    "merged_with_running_reassignment": "The plan starts from the target of a running reassignment; until that "
    "ends, Kafka accepts it only with `--additional`.",
    "min_isr_assumed": "`min.insync.replicas` of topics is unknown; that of the request counts, or 1 in restarts.",
    "missing_topic_counts": "Subscriptions differ only in topics without metadata, which the sticky assignors "
    "take for a difference.",
    "name_collides": "Names of topics differ in periods and underscores alone, which metrics do not distinguish.",
    "no_in_sync_replica": "Kafka never completes batches: no in-sync replica of partitions is on a live broker.",
    "no_members": "The group has no members.",
    "no_repair": "No reassignment repairs racks and limits together.",
    "no_standbys": "Tags are listed, and there are no standbys to keep apart.",
    "not_a_replica": "Leaders or in-sync replicas of partitions are not among their replicas, as during a reassignment "
    "in ZooKeeper, or in a text that was changed.",
    "not_preferred": "The leader of partitions is not the first of their replicas.",
    "not_settled": "Members exchange partitions without end.",
    "observers_dropped": "Partitions have fewer observers after the reassignment.",
    "observers_stay": "Topics with observers or placement constraints of Confluent Server stay as they are.",
    "offline_log_dirs": "Log directories are offline.",
    "offline_replicas_stay": "Replicas stay on brokers that are fenced or down.",
    "order_of_sets_decides": "kafka-python's `sticky` takes partitions out of sets of random order, `uniform` out of "
    "sets in the order of earlier assignments, and `uniform` and `simple` members of one bucket in that of their "
    "joins, so that others may be assigned.",
    "others_decide": "Something else than Kafka's own code may decide, or undo a plan: custom assignors, "
    "self-balancing.",
    "outside_broker_sets": "Topics that may not move have replicas outside their broker sets, and stay there.",
    "oversized_partitions": "Partitions exceed the capacity of a consumer, so that lag grows.",
    "overrides_without_member": "`member_overrides` match no member.",
    "owned_partition_missing": "A member owns partitions that do not exist.",
    "owned_without_generation": "A member has owned partitions and no generation, so that the sticky assignor "
    "ignores them.",
    "partition_assigned_twice": "Kafka's sticky assignor assigns partitions to several members.",
    "partition_beyond_topic": "A member owns a partition that its topic does not have, and Kafka's sticky "
    "assignor assigns it.",
    "partition_owned_twice": "Two members claim to own a partition.",
    "partitions_not_subscribed": "Kafka's sticky assignor assigns partitions to members that do not subscribe to "
    "their topic.",
    "partitions_without_rate": "Rates of some partitions of a group are unknown; `traffic` leaves these out.",
    "partitions_withheld": "Partitions are revoked in one phase and assigned in the next; between them they have "
    "no member.",
    "partitions_without_topic": "Partitions are on disk and in no text of topics; they do not count.",
    "planned_lists_unknown": "The output of `--verify` and the snapshot lack the planned lists of partitions, "
    "which are checked as they are.",
    "previous_tasks_unknown": "Clients had tasks that no longer exist.",
    "probing_rebalance_follows": "Warm-ups catch up before the group rebalances again.",
    "process_ids_are_names": "Kafka sorts clients by UUID; the names are ordered as in the request.",
    "rack_aware_assignment_off": "KIP-925 is requested, and Kafka disables it silently: a client or a replica has "
    "no rack.",
    "rack_without_broker": "Members are in a rack that has no broker.",
    "racks_ignored": "Racks are ignored: brokers have none in the mode `safe`, or Kafka disables them for the group.",
    "racks_not_recorded": "The snapshot does not have the racks of members whose subscriptions are known.",
    "racks_not_repaired": "Partitions span too few racks, and the request does not repair them.",
    "racks_of_new_partitions_unknown": "The racks of partitions that a topic gets decide, and are not known.",
    "rates_of_unknown_partitions": "Rates are given for partitions that the topic does not have; they do not count.",
    "rates_of_size_growth": "Rates are the growth of sizes between snapshots, too low if retention removed records.",
    "rates_of_unknown_topics": "Rates are given for topics that the snapshot does not have; they do not count.",
    "receivers_down": "Brokers to which replicas are still to be copied are fenced or down.",
    "reassignment_in_progress": "Partitions were being reassigned at the time of the snapshot.",
    "removed_brokers_in_use": "Topics that may not move stay on removed brokers.",
    "remote_bytes_unknown": "The retention of topics with remote storage is unknown; their bytes there are more.",
    "replacement_in_another_rack": "A successor is in another rack and cannot take every replica.",
    "replicas_leave_at_once": "Partitions exchange several replicas in one step, so that no list contains a "
    "cordoned broker.",
    "replicas_unassigned": "Replicas are unassigned, since no broker has a forced value.",
    "rollback_brokers_down": "Lists that a rollback restores have brokers that are fenced or down.",
    "rollback_lifts_cordons": "The rollback needs brokers uncordoned that are cordoned in the snapshot.",
    "rows_may_be_missing": "Partitions or replicas have gaps, so that a text may lack rows; the detail names them.",
    "several_kafka_versions": "The brokers run several releases of Kafka, as during an upgrade; the last one is "
    "stored.",
    "standbys_above_brokers_limit": "Brokers allow streams groups 2 standbys by default "
    "(`group.streams.max.standby.replicas`).",
    "start_partition_id_differs": "New partitions of a topic cannot start at the stated id.",
    "stateful_tasks_not_recorded": "The stateful tasks of a recorded group are assumed from its standbys and warm-ups.",
    "subscription_from_the_future": "The subscription of a member has a newer version than is known, and is read "
    "as the newest known one.",
    "subscriptions_not_recorded": "The snapshot has neither subscriptions nor racks nor generations of the group.",
    "texts_disagree": "Texts differ in a broker's rack or a partition's replicas; the detail names what counts.",
    "tag_nobody_has": "A listed tag is on no client, so that it has no effect.",
    "target_tasks_not_recorded": "The group was rebalancing, and its table has no target assignment (`--verbose`).",
    "task_offsets_unknown": "Since Kafka 4.4 offsets decide between standbys, and no member reports any.",
    "ties_broken_by_chance": "Kafka 4.1 breaks ties by chance, and may have another assignment that is as balanced.",
    "tolerance_not_reached": "Brokers are farther from the mean than a tolerance allows.",
    "topic_exists": "A topic to place exists already.",
    "topic_ids_unknown": "The coordinator orders topics by their ids, which are unknown.",
    "topic_order_unknown": "The leader's library uses the order in which the broker lists topics, which is not "
    "recorded.",
    "topic_without_partitions": "Members subscribe to a topic without partitions.",
    "topics_without_broker_set": "Topics are bound to no broker set, and are placed outside every set.",
    "unequal_racks": "Racks have different numbers of brokers, so that replicas are not balanced over brokers.",
    "unequal_values": "The values of an attribute have brokers of different total weight.",
    "unknown_rates": "Ingress rates of topics are unknown, and count as 0 bytes/s in `loads`.",
    "unknown_sizes": "Sizes of partitions are unknown and count as 0 bytes; replicas are minimised.",
    "unknown_topic": "Members subscribe to a topic that does not exist.",
    "unlisted_brokers": "Brokers have replicas and are not listed, as when they are down.",
    "upgrade_not_finalized": "The finalized `metadata.version` is older than the release that the brokers run.",
    "values_never_lead": "No partition of a topic is led in some values of the first attribute.",
    "waits_for_offline_replica": "Kafka never completes batches: replicas on brokers that are fenced or down have "
    "to be in sync first.",
    "weights_without_ingress": "Brokers have weights, and the ingress of leaders is balanced alike over them.",
}
"""What each code of a warning means. Codes are part of the API contract; the lists of documents are made of this."""


class Caution(AnswerRecord, schema="WarningDocument"):
    """A condition that did not prevent the answer."""

    code: str
    """Stable code of the warning."""
    detail: str
    """The warning in a sentence, with its numbers."""
    brokers: ListOf[int] | None = ABSENT
    """Ids of the brokers that the warning is about, ascending; absent if it is about none."""
    members: ListOf[str] | None = ABSENT
    """Ids of the members that the warning is about, the first 20; absent if it is about none."""
    topics: ListOf[str] | None = ABSENT
    """Names of the topics that the warning is about; absent if it is about none."""
    kafka_version: str | None = ABSENT
    """The release that the warning is about."""

    def __post_init__(self) -> None:
        about = {name: value for name, value in vars(self).items() if value and value is not ABSENT}
        if "members" in about:
            about["members"] = about["members"][:NAMED_MEMBERS]
        vars(self).clear()
        vars(self).update(about)
