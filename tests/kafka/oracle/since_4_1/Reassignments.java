import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.DescribeClusterResult;
import org.apache.kafka.clients.admin.DescribeReplicaLogDirsResult;
import org.apache.kafka.clients.admin.DescribeTopicsResult;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionInfo;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.internals.KafkaFutureImpl;
import org.apache.kafka.common.metadata.PartitionRecord;
import org.apache.kafka.common.metadata.RegisterBrokerRecord;
import org.apache.kafka.common.metadata.TopicRecord;
import org.apache.kafka.coordinator.group.Utils;
import org.apache.kafka.image.MetadataDelta;
import org.apache.kafka.image.MetadataImage;
import org.apache.kafka.image.MetadataProvenance;
import org.apache.kafka.tools.reassign.ReassignPartitionsCommand;

/** What Kafka decides from the replicas of topics since 4.1: the proposal of its tool, and the hashes of topics. */
public final class Reassignments {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Reassignments() {
    }

    static JsonNode generate(JsonNode input) throws Throwable {
        Map<Integer, Node> nodes = new HashMap<>();
        List<Node> listed = new ArrayList<>();
        for (JsonNode broker : input.get("brokers")) {
            Node node = new Node(broker.get("id").asInt(), "host", 9092, Oracle.text(broker, "rack").orElse(null));
            nodes.put(node.id(), node);
            listed.add(node);
        }
        Map<String, KafkaFuture<TopicDescription>> topics = new HashMap<>();
        ObjectNode wanted = JSON.createObjectNode().put("version", 1);
        ArrayNode names = wanted.putArray("topics");
        for (JsonNode topic : input.get("topics")) {
            names.addObject().put("topic", topic.get("name").asText());
            topics.put(topic.get("name").asText(), described(topic, nodes));
        }
        List<String> ids = new ArrayList<>();
        input.get("broker_list").forEach(id -> ids.add(id.asText()));
        seed(input.get("random_seed").asLong());
        Method generated = one(ReassignPartitionsCommand.class, "generateAssignment");
        Map.Entry<?, ?> answered;
        try {
            answered = (Map.Entry<?, ?>) generated.invoke(null, admin(listed, topics), JSON.writeValueAsString(wanted),
                String.join(",", ids), input.get("rack_aware").asBoolean());
        } catch (InvocationTargetException failure) {
            throw failure.getCause();
        }
        Map<String, Map<Integer, List<?>>> proposed = new TreeMap<>();
        ((Map<?, ?>) answered.getKey()).forEach((partition, replicas) -> {
            TopicPartition of = (TopicPartition) partition;
            proposed.computeIfAbsent(of.topic(), key -> new TreeMap<>()).put(of.partition(), (List<?>) replicas);
        });
        ObjectNode answer = JSON.createObjectNode();
        ObjectNode lists = answer.putObject("proposed");
        proposed.forEach((topic, partitions) -> lists.set(topic, JSON.valueToTree(partitions.values())));
        return answer;
    }

    private static Method one(Class<?> owner, String name) {
        for (Method method : owner.getMethods()) {
            if (method.getName().equals(name)) {
                return method;
            }
        }
        throw new IllegalStateException(name);
    }

    /** The tool has one placer, whose draws are those of a `Random` that was seeded just before. */
    private static void seed(long seed) throws ReflectiveOperationException {
        Field placer = ReassignPartitionsCommand.class.getDeclaredField("REPLICA_PLACER");
        placer.setAccessible(true);
        Field random = placer.get(null).getClass().getDeclaredField("random");
        random.setAccessible(true);
        ((Random) random.get(placer.get(null))).setSeed(seed);
    }

    private static KafkaFuture<TopicDescription> described(JsonNode topic, Map<Integer, Node> nodes) {
        if (!topic.hasNonNull("replicas")) {
            KafkaFutureImpl<TopicDescription> missing = new KafkaFutureImpl<>();
            missing.completeExceptionally(new UnknownTopicOrPartitionException());
            return missing;
        }
        List<TopicPartitionInfo> partitions = new ArrayList<>();
        for (JsonNode ids : topic.get("replicas")) {
            List<Node> replicas = new ArrayList<>();
            ids.forEach(id -> replicas.add(nodes.getOrDefault(id.asInt(), new Node(id.asInt(), "host", 9092))));
            partitions.add(new TopicPartitionInfo(partitions.size(), null, replicas, replicas));
        }
        return KafkaFuture.completedFuture(new TopicDescription(topic.get("name").asText(), false, partitions));
    }

    /**
     * An admin client that answers what the proposal asks: the brokers, the topics, and no log directories.
     * Topics pass through the maps of the real client, whose sizes decide in which order they are placed.
     */
    private static Admin admin(Collection<Node> nodes, Map<String, KafkaFuture<TopicDescription>> topics)
        throws ReflectiveOperationException {
        Object cluster = result(DescribeClusterResult.class, KafkaFuture.completedFuture(nodes), null, null, null);
        Object directories = result(DescribeReplicaLogDirsResult.class, Map.of());
        return (Admin) Proxy.newProxyInstance(Reassignments.class.getClassLoader(), new Class<?>[] {Admin.class},
            (proxy, method, arguments) -> switch (method.getName()) {
                case "describeCluster" -> cluster;
                case "describeTopics" -> result(DescribeTopicsResult.class, null, named(arguments[0], topics));
                case "describeReplicaLogDirs" -> directories;
                default -> throw new IllegalStateException(method.getName());
            });
    }

    private static Map<?, ?> named(Object names, Map<String, KafkaFuture<TopicDescription>> topics) {
        Map<Object, Object> futures = new HashMap<>(((Collection<?>) names).size());
        ((Collection<?>) names).forEach(name -> futures.put(name, topics.get(name)));
        return new HashMap<>(futures);
    }

    private static Object result(Class<?> type, Object... arguments) throws ReflectiveOperationException {
        Constructor<?> constructor = type.getDeclaredConstructors()[0];
        constructor.setAccessible(true);
        return constructor.newInstance(arguments);
    }

    static JsonNode topic_hash(JsonNode input) throws ReflectiveOperationException {
        Map<String, JsonNode> topics = new HashMap<>();
        input.get("topics").forEach(topic -> topics.put(topic.get("name").asText(), topic));
        Method hash = one(Utils.class, "computeTopicHash");
        ObjectNode answer = JSON.createObjectNode();
        ObjectNode hashes = answer.putObject("topic_hashes");
        Map<String, Long> known = new HashMap<>();
        for (JsonNode each : input.get("subscribed")) {
            String name = each.asText();
            Object image = image(input.get("brokers"), topics.get(name));
            if (hash.getParameterTypes()[1] != MetadataImage.class) { // an interface of coordinators since Kafka 4.2
                image = Class.forName("org.apache.kafka.coordinator.common.runtime.KRaftCoordinatorMetadataImage")
                    .getConstructor(MetadataImage.class).newInstance(image);
            }
            hashes.put(name, (long) hash.invoke(null, name, image));
            if (topics.containsKey(name)) {
                known.put(name, hashes.get(name).asLong());
            }
        }
        answer.put("group_hash", Utils.computeGroupHash(known));
        return answer;
    }

    /** The metadata of brokers and of one topic, unless it is null; topics of a case may share an id. */
    private static MetadataImage image(JsonNode brokers, JsonNode topic) {
        MetadataDelta delta = new MetadataDelta.Builder().setImage(MetadataImage.EMPTY).build();
        for (JsonNode broker : brokers) {
            delta.replay(new RegisterBrokerRecord().setBrokerId(broker.get("id").asInt())
                .setFenced(broker.path("fenced").asBoolean()).setRack(Oracle.text(broker, "rack").orElse(null)));
        }
        if (topic != null) {
            Uuid id = Uuid.fromString(topic.get("id").asText());
            delta.replay(new TopicRecord().setName(topic.get("name").asText()).setTopicId(id));
            int number = 0;
            for (JsonNode ids : topic.get("replicas")) {
                List<Integer> replicas = new ArrayList<>();
                ids.forEach(each -> replicas.add(each.asInt()));
                delta.replay(new PartitionRecord().setTopicId(id).setPartitionId(number++).setReplicas(replicas)
                    .setIsr(replicas).setLeader(replicas.isEmpty() ? -1 : replicas.get(0)));
            }
        }
        return delta.apply(MetadataProvenance.EMPTY);
    }
}
