package org.apache.kafka.streams.processor.internals.assignment;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.processor.TaskId;
import org.apache.kafka.streams.processor.assignment.AssignmentConfigs;
import org.apache.kafka.streams.processor.assignment.ProcessId;
import org.apache.kafka.streams.processor.internals.InternalTopicManager;
import org.apache.kafka.streams.processor.internals.TopologyMetadata.Subtopology;

/** The task assignors of Streams' client, and their parts, which only classes of this package may use. */
public final class StreamsClients {
    private static final ObjectMapper JSON = new ObjectMapper();

    private StreamsClients() {
    }

    public static JsonNode assigned(JsonNode input) {
        String name = input.get("assignor").asText();
        boolean isPart = !Set.of("high_availability", "sticky", "fallback_prior").contains(name);
        AssignmentConfigs configs = configs(input.get("configs"));
        Set<TaskId> tasks = tasks(input.get("tasks"), isPart ? new TreeSet<>() : new HashSet<>());
        Set<TaskId> stateful = tasks(input.get("stateful_tasks"), isPart ? new TreeSet<>() : new HashSet<>());
        Map<ProcessId, ClientState> clients = isPart ? new TreeMap<>() : new HashMap<>();
        for (JsonNode client : input.get("clients")) {
            ProcessId process = new ProcessId(UUID.fromString(client.get("process_id").asText()));
            clients.put(process, state(client, process, stateful));
        }
        RackAwareTaskAssignor racks = racks(input, tasks, configs);
        ObjectNode answer = JSON.createObjectNode();
        switch (name) {
            case "high_availability":
                probing(answer, new HighAvailabilityTaskAssignor().assign(clients, tasks, stateful, racks, configs));
                break;
            case "sticky":
                probing(answer, new LegacyStickyTaskAssignor().assign(clients, tasks, stateful, racks, configs));
                break;
            case "fallback_prior":
                probing(answer, new FallbackPriorTaskAssignor().assign(clients, tasks, stateful, racks, configs));
                break;
            case "client_tag_standby":
                new ClientTagAwareStandbyTaskAssignor().assign(clients, tasks, stateful, configs);
                break;
            case "default_standby":
                new DefaultStandbyTaskAssignor().assign(clients, tasks, stateful, configs);
                break;
            default:
                optimise(name, answer, racks, configs, (TreeSet<TaskId>) tasks, (TreeMap<ProcessId, ClientState>) clients);
        }
        ObjectNode lists = answer.putObject("assignment");
        clients.forEach((process, client) -> {
            ObjectNode of = lists.putObject(process.id().toString());
            write(of.putArray("active"), client.activeTasks());
            write(of.putArray("standby"), client.standbyTasks());
        });
        return answer;
    }

    private static void probing(ObjectNode answer, boolean isNeeded) {
        answer.put("probing_rebalance_needed", isNeeded);
    }

    private static void optimise(
        String name,
        ObjectNode answer,
        RackAwareTaskAssignor racks,
        AssignmentConfigs configs,
        TreeSet<TaskId> tasks,
        TreeMap<ProcessId, ClientState> clients) {
        int traffic = configs.rackAwareTrafficCost().orElse(1);
        int overlap = configs.rackAwareNonOverlapCost().orElse(0);
        answer.put("can_enable", racks.canEnableRackAwareAssignor());
        if (!racks.canEnableRackAwareAssignor()) {
            return;
        }
        if (name.equals("rack_aware_active")) {
            answer.put("cost_before", racks.activeTasksCost(tasks, clients, traffic, overlap));
            answer.put("cost", racks.optimizeActiveTasks(tasks, clients, traffic, overlap));
            return;
        }
        TreeSet<TaskId> standbys = new TreeSet<>();
        clients.values().forEach(client -> standbys.addAll(client.standbyTasks()));
        StandbyTaskAssignor rule = configs.rackAwareAssignmentTags().isEmpty()
            ? new DefaultStandbyTaskAssignor() : new ClientTagAwareStandbyTaskAssignor();
        answer.put("cost_before", racks.standByTasksCost(standbys, clients, traffic, overlap));
        answer.put("cost", racks.optimizeStandbyTasks(clients, traffic, overlap, rule::isAllowedTaskMovement));
    }

    private static void write(ArrayNode list, Set<TaskId> tasks) {
        new TreeSet<>(tasks).forEach(task -> list.add(task.toString()));
    }

    private static Set<TaskId> tasks(JsonNode names, Set<TaskId> tasks) {
        if (names != null) {
            names.forEach(name -> tasks.add(TaskId.parse(name.asText())));
        }
        return tasks;
    }

    private static ClientState state(JsonNode client, ProcessId process, Set<TaskId> stateful) {
        Map<TaskId, Long> lags = new HashMap<>();
        stateful.forEach(task -> lags.put(task, client.get("default_lag").asLong()));
        client.get("lags").fields().forEachRemaining(lag -> lags.put(TaskId.parse(lag.getKey()), lag.getValue().asLong()));
        Map<String, String> tags = new HashMap<>();
        client.get("tags").fields().forEachRemaining(tag -> tags.put(tag.getKey(), tag.getValue().asText()));
        ClientState state = new ClientState(
            tasks(client.get("prev_active"), new HashSet<>()), tasks(client.get("prev_standby"), new HashSet<>()),
            lags, tags, client.get("capacity").asInt(), process);
        tasks(client.get("assigned_active"), new TreeSet<>()).forEach(state::assignActive);
        tasks(client.get("assigned_standby"), new TreeSet<>()).forEach(state::assignStandby);
        return state;
    }

    private static OptionalInt cost(JsonNode configs, String name) {
        return configs.hasNonNull(name) ? OptionalInt.of(configs.get(name).asInt()) : OptionalInt.empty();
    }

    private static AssignmentConfigs configs(JsonNode given) {
        List<String> tags = new ArrayList<>();
        given.get("rack_aware_assignment_tags").forEach(tag -> tags.add(tag.asText()));
        return new AssignmentConfigs(
            given.get("acceptable_recovery_lag").asLong(), given.get("max_warmup_replicas").asInt(),
            given.get("num_standby_replicas").asInt(), 60_000L, tags, cost(given, "traffic_cost"),
            cost(given, "non_overlap_cost"), given.get("rack_aware_assignment_strategy").asText());
    }

    private static RackAwareTaskAssignor racks(JsonNode input, Set<TaskId> tasks, AssignmentConfigs configs) {
        Map<Integer, Node> nodes = new HashMap<>();
        for (JsonNode broker : input.path("brokers")) {
            String rack = broker.hasNonNull("rack") ? broker.get("rack").asText() : null;
            nodes.put(broker.get("id").asInt(), new Node(broker.get("id").asInt(), "host", 9092, rack));
        }
        Map<String, List<TopicPartitionInfo>> described = new HashMap<>();
        List<PartitionInfo> partitions = new ArrayList<>();
        for (JsonNode topic : input.path("topics")) {
            String name = topic.get("name").asText();
            List<TopicPartitionInfo> infos = described.computeIfAbsent(name, key -> new ArrayList<>());
            for (JsonNode ids : topic.get("replicas")) {
                List<Node> replicas = new ArrayList<>();
                ids.forEach(id -> replicas.add(nodes.getOrDefault(id.asInt(), new Node(id.asInt(), "host", 9092))));
                Node leader = replicas.isEmpty() ? null : nodes.get(replicas.get(0).id());
                Node[] array = replicas.toArray(new Node[0]);
                partitions.add(new PartitionInfo(name, infos.size(), leader, array, array));
                infos.add(new TopicPartitionInfo(infos.size(), leader, replicas, replicas));
            }
        }
        Map<Subtopology, Set<TaskId>> groups = new HashMap<>();
        tasks.forEach(task ->
            groups.computeIfAbsent(new Subtopology(task.subtopology(), null), key -> new HashSet<>()).add(task));
        Map<ProcessId, Map<String, Optional<String>>> racks = new HashMap<>();
        for (JsonNode client : input.get("clients")) {
            Optional<String> rack = Optional.ofNullable(client.hasNonNull("rack") ? client.get("rack").asText() : null);
            racks.put(new ProcessId(UUID.fromString(client.get("process_id").asText())), Map.of("consumer", rack));
        }
        StreamsConfig config = new StreamsConfig(Map.of("application.id", "a", "bootstrap.servers", "localhost:1"));
        InternalTopicManager topics = new InternalTopicManager(Time.SYSTEM, null, config) {
            @Override
            public Map<String, List<TopicPartitionInfo>> getTopicPartitionInfo(Set<String> names) {
                Map<String, List<TopicPartitionInfo>> found = new HashMap<>(described);
                found.keySet().retainAll(names);
                return found;
            }
        };
        return new RackAwareTaskAssignor(
            new Cluster("cluster", nodes.values(), partitions, Set.of(), Set.of()),
            partitions(input.path("task_partitions")), partitions(input.path("changelog_partitions")), groups, racks,
            topics, configs, Time.SYSTEM);
    }

    private static Map<TaskId, Set<TopicPartition>> partitions(JsonNode given) {
        Map<TaskId, Set<TopicPartition>> partitions = new HashMap<>();
        given.fields().forEachRemaining(task -> {
            Collection<TopicPartition> of =
                partitions.computeIfAbsent(TaskId.parse(task.getKey()), key -> new HashSet<>());
            task.getValue().forEach(one -> of.add(new TopicPartition(one.get(0).asText(), one.get(1).asInt())));
        });
        return partitions;
    }
}
