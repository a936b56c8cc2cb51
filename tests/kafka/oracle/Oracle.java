import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.lang.reflect.InvocationTargetException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.coordinator.group.api.assignor.MemberAssignment;
import org.apache.kafka.coordinator.group.api.assignor.PartitionAssignor;
import org.apache.kafka.coordinator.group.api.assignor.SubscribedTopicDescriber;
import org.apache.kafka.coordinator.group.api.assignor.SubscriptionType;
import org.apache.kafka.coordinator.group.assignor.SimpleAssignor;
import org.apache.kafka.coordinator.group.assignor.UniformAssignor;
import org.apache.kafka.coordinator.group.modern.GroupSpecImpl;
import org.apache.kafka.coordinator.group.modern.MemberSubscriptionAndAssignmentImpl;
import org.apache.kafka.metadata.placement.ClusterDescriber;
import org.apache.kafka.metadata.placement.PlacementSpec;
import org.apache.kafka.metadata.placement.StripedReplicaPlacer;
import org.apache.kafka.metadata.placement.UsableBroker;
import org.apache.kafka.streams.processor.internals.assignment.StreamsClients;

/**
 * Answers the inputs of vectors with the classes of a release of Kafka: a line of standard input is
 * {"kind": ..., "input": ...}, a line of standard output what is expected, in the format of tests/vectors.
 */
public final class Oracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    private interface Answer {
        JsonNode of(JsonNode input) throws Exception;
    }

    public static void main(String[] arguments) throws Exception {
        Map<String, Answer> kinds = new HashMap<>();
        for (String kind : List.of("range", "roundrobin", "sticky", "cooperative_sticky")) {
            kinds.put("consumer_" + kind, Oracle::consumers);
        }
        for (String kind : List.of("server_range", "server_uniform", "server_simple")) {
            kinds.put(kind, Oracle::coordinator);
        }
        kinds.put("murmur2", Oracle::murmur2);
        kinds.put("consumer_protocol", ProtocolBytes::answered);
        kinds.put("streams_client", StreamsClients::assigned);
        kinds.put("striped_placer", Oracle::placed);
        kinds.put("admin_utils", Placements::assigned);
        kinds.put("rack_alternated", Placements::alternated);
        kinds.put("builtin_partitioner", input -> (JsonNode) // since Kafka 4.4
            Class.forName("org.apache.kafka.clients.producer.internals.Partitioners")
                .getMethod("chosen", JsonNode.class).invoke(null, input));
        kinds.put("streams_group_sticky", input -> (JsonNode) Class.forName("StreamsGroups")
            .getDeclaredMethod("assigned", JsonNode.class).invoke(null, input));
        for (String kind : List.of("generate", "topic_hash")) { // since Kafka 4.1
            kinds.put(kind, input -> (JsonNode) Class.forName("Reassignments")
                .getDeclaredMethod(kind, JsonNode.class).invoke(null, input));
        }
        BufferedReader read = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        BufferedWriter write = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8));
        System.setOut(System.err); // tools print there
        for (String line = read.readLine(); line != null; line = read.readLine()) {
            JsonNode asked = JSON.readTree(line);
            write.write(JSON.writeValueAsString(answered(kinds.get(asked.get("kind").asText()), asked.get("input"))));
            write.write('\n');
        }
        write.flush();
    }

    static JsonNode answered(Answer kind, JsonNode input) throws Exception {
        try {
            return kind.of(input);
        } catch (InvocationTargetException failure) {
            return failed(failure.getCause());
        } catch (RuntimeException | Error failure) {
            return failed(failure);
        }
    }

    private static ObjectNode failed(Throwable failure) {
        ObjectNode node = JSON.createObjectNode();
        node.put("error", failure.getClass().getSimpleName());
        node.put("message", failure.getMessage());
        return node;
    }

    private static JsonNode murmur2(JsonNode input) {
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode hashes = answer.putArray("murmur2");
        ArrayNode partitions = answer.putArray("partitions");
        int count = input.get("num_partitions").asInt();
        for (JsonNode key : input.get("keys_base64")) {
            int hash = Utils.murmur2(Base64.getDecoder().decode(key.asText()));
            hashes.add(hash);
            if (count != 0) {
                partitions.add(Utils.toPositive(hash) % count);
            }
        }
        return answer;
    }

    static Optional<String> text(JsonNode node, String name) {
        return node.hasNonNull(name) ? Optional.of(node.get(name).asText()) : Optional.empty();
    }

    private static JsonNode placed(JsonNode input) {
        List<UsableBroker> brokers = new ArrayList<>();
        for (JsonNode broker : input.get("brokers")) {
            boolean isFenced = broker.hasNonNull("fenced") && broker.get("fenced").asBoolean();
            brokers.add(new UsableBroker(broker.get("id").asInt(), text(broker, "rack"), isFenced));
        }
        ClusterDescriber cluster = new ClusterDescriber() {
            @Override
            public Iterator<UsableBroker> usableBrokers() {
                return brokers.iterator();
            }

            @Override
            public Uuid defaultDir(int broker) {
                return Uuid.randomUuid();
            }
        };
        StripedReplicaPlacer placer = new StripedReplicaPlacer(new Random(input.get("random_seed").asLong()));
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode results = answer.putArray("results");
        for (JsonNode asked : input.get("placements")) {
            try {
                PlacementSpec spec = new PlacementSpec(
                    asked.get("start_partition").asInt(),
                    asked.get("num_partitions").asInt(),
                    (short) asked.get("replication_factor").asInt());
                ArrayNode lists = results.addObject().putArray("replicas");
                placer.place(spec, cluster).assignments().forEach(one -> {
                    ArrayNode list = lists.addArray();
                    one.replicas().forEach(list::add);
                });
            } catch (RuntimeException failure) {
                if (results.size() > 0 && results.get(results.size() - 1).has("replicas")
                    && results.get(results.size() - 1).get("replicas").isEmpty()) {
                    results.remove(results.size() - 1);
                }
                results.add(failed(failure));
            }
        }
        return answer;
    }

    private static ConsumerPartitionAssignor assignor(String name) {
        switch (name) {
            case "range": return new RangeAssignor();
            case "roundrobin": return new RoundRobinAssignor();
            case "sticky": return new StickyAssignor();
            default: return new CooperativeStickyAssignor();
        }
    }

    private static Cluster cluster(JsonNode input) {
        Map<Integer, Node> nodes = new HashMap<>();
        for (JsonNode broker : input.get("brokers")) {
            int id = broker.get("id").asInt();
            nodes.put(id, new Node(id, "host", 9092, text(broker, "rack").orElse(null)));
        }
        List<PartitionInfo> partitions = new ArrayList<>();
        for (JsonNode topic : input.get("topics")) {
            int number = 0;
            for (JsonNode ids : topic.get("replicas")) {
                Node[] replicas = new Node[ids.size()];
                for (int place = 0; place < replicas.length; place++) {
                    int id = ids.get(place).asInt();
                    replicas[place] = nodes.getOrDefault(id, new Node(id, "host", 9092));
                }
                // `Cluster` wants the leaders among its nodes; no assignor looks at them.
                Node leader = ids.isEmpty() ? null : nodes.get(ids.get(0).asInt());
                partitions.add(new PartitionInfo(topic.get("name").asText(), number++, leader, replicas, replicas));
            }
        }
        return new Cluster("cluster", nodes.values(), partitions, Set.of(), Set.of());
    }

    static List<TopicPartition> listed(JsonNode runs) {
        List<TopicPartition> partitions = new ArrayList<>();
        if (runs != null) {
            for (JsonNode run : runs) {
                run.get(1).forEach(each -> partitions.add(new TopicPartition(run.get(0).asText(), each.asInt())));
            }
        }
        return partitions;
    }

    private static JsonNode consumers(JsonNode input) {
        ConsumerPartitionAssignor assignor = assignor(input.get("assignor").asText().replace("cooperative-", "c"));
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (JsonNode member : input.get("members")) {
            List<String> topics = new ArrayList<>();
            member.get("topics").forEach(topic -> topics.add(topic.asText()));
            List<TopicPartition> owned = listed(member.get("owned"));
            boolean hasGeneration = member.hasNonNull("generation_id");
            int generation = hasGeneration ? member.get("generation_id").asInt() : -1;
            ByteBuffer data = null;
            if (assignor instanceof StickyAssignor) {
                if (hasGeneration) {
                    StickyAssignor earlier = new StickyAssignor();
                    earlier.onAssignment(
                        new Assignment(owned), new ConsumerGroupMetadata("g", generation, "m", Optional.empty()));
                    data = earlier.subscriptionUserData(new HashSet<>(topics));
                }
                owned = List.of();
            } else if (!(assignor instanceof CooperativeStickyAssignor)) {
                owned = List.of();
            }
            Subscription subscription = new Subscription(topics, data, owned, generation, text(member, "rack_id"));
            subscription.setGroupInstanceId(text(member, "group_instance_id"));
            subscriptions.put(member.get("id").asText(), subscription);
        }
        Map<String, Assignment> assigned =
            assignor.assign(cluster(input), new GroupSubscription(subscriptions)).groupAssignment();
        ObjectNode answer = JSON.createObjectNode();
        ObjectNode members = answer.putObject("assignment");
        assigned.forEach((member, assignment) -> write(members.putArray(member), assignment.partitions()));
        return answer;
    }

    /** A list of partitions: neighbours of one topic are one entry. */
    static void write(ArrayNode runs, List<TopicPartition> partitions) {
        String last = null;
        ArrayNode run = null;
        for (TopicPartition partition : partitions) {
            if (!partition.topic().equals(last)) {
                last = partition.topic();
                run = runs.addArray().add(last).addArray();
            }
            run.add(partition.partition());
        }
    }

    private static JsonNode coordinator(JsonNode input) throws Exception {
        Map<Uuid, Integer> counts = new HashMap<>();
        for (JsonNode topic : input.get("topics")) {
            counts.put(Uuid.fromString(topic.get("id").asText()), topic.get("n_partitions").asInt());
        }
        Map<String, MemberSubscriptionAndAssignmentImpl> members = new HashMap<>();
        Map<Uuid, Map<Integer, String>> owners = new HashMap<>();
        Set<Set<Uuid>> subscriptions = new HashSet<>();
        for (JsonNode member : input.get("members")) {
            String id = member.get("id").asText();
            Set<Uuid> topics = new HashSet<>();
            member.get("topics").forEach(topic -> topics.add(Uuid.fromString(topic.asText())));
            subscriptions.add(topics);
            Map<Uuid, Set<Integer>> owned = sets(member.get("owned"));
            owned.forEach((topic, partitions) -> {
                Map<Integer, String> of = owners.computeIfAbsent(topic, key -> new HashMap<>());
                partitions.forEach(partition -> of.put(partition, id));
            });
            members.put(id, new MemberSubscriptionAndAssignmentImpl(
                text(member, "rack_id"), text(member, "instance_id"), topics,
                new org.apache.kafka.coordinator.group.modern.Assignment(Collections.unmodifiableMap(owned))));
        }
        SubscriptionType type = input.hasNonNull("subscription_type")
            ? SubscriptionType.valueOf(input.get("subscription_type").asText())
            : subscriptions.size() > 1 ? SubscriptionType.HETEROGENEOUS : SubscriptionType.HOMOGENEOUS;
        SubscribedTopicDescriber describer = new SubscribedTopicDescriber() {
            @Override
            public int numPartitions(Uuid topic) {
                return counts.getOrDefault(topic, -1);
            }

            @Override
            public Set<String> racksForPartition(Uuid topic, int partition) {
                return Set.of();
            }
        };
        PartitionAssignor assignor;
        switch (input.get("assignor").asText()) {
            case "range": assignor = new org.apache.kafka.coordinator.group.assignor.RangeAssignor(); break;
            case "uniform": assignor = new UniformAssignor(); break;
            default: assignor = new SimpleAssignor();
        }
        ObjectNode answer = JSON.createObjectNode();
        answer.put("subscription_type", type.name());
        ObjectNode lists = answer.putObject("assignment");
        Map<String, MemberAssignment> assigned =
            assignor.assign(specified(members, type, owners, input), describer).members();
        assigned.forEach((member, assignment) -> {
            Map<String, Set<Integer>> sorted = new TreeMap<>();
            assignment.partitions().forEach((topic, partitions) ->
                sorted.put(topic.toString(), new TreeSet<>(partitions)));
            ArrayNode rows = lists.putArray(member);
            sorted.forEach((topic, partitions) -> {
                ArrayNode row = rows.addArray().add(topic).addArray();
                partitions.forEach(row::add);
            });
        });
        return answer;
    }

    /** Kafka 4.1 adds the partitions that may be assigned. */
    private static GroupSpecImpl specified(
        Map<String, MemberSubscriptionAndAssignmentImpl> members,
        SubscriptionType type,
        Map<Uuid, Map<Integer, String>> owners,
        JsonNode input) throws Exception {
        if (!input.hasNonNull("assignable")) {
            return new GroupSpecImpl(members, type, owners);
        }
        return GroupSpecImpl.class
            .getConstructor(Map.class, SubscriptionType.class, Map.class, Optional.class)
            .newInstance(members, type, owners, Optional.of(sets(input.get("assignable"))));
    }

    private static Map<Uuid, Set<Integer>> sets(JsonNode rows) {
        Map<Uuid, Set<Integer>> sets = new HashMap<>();
        if (rows != null) {
            for (JsonNode row : rows) {
                Set<Integer> partitions = new HashSet<>();
                row.get(1).forEach(partition -> partitions.add(partition.asInt()));
                sets.put(Uuid.fromString(row.get(0).asText()), partitions);
            }
        }
        return sets;
    }
}
