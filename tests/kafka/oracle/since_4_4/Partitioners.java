package org.apache.kafka.clients.producer.internals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.StreamSupport;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.utils.internals.LogContext;

/** The partitioner of producers for records without a key, with the random numbers that a case has. */
public final class Partitioners {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final class Replayed extends BuiltInPartitioner {
        private int random;

        private Replayed(JsonNode input) {
            super(new LogContext(), "t", 1, input.get("rack_aware").asBoolean(),
                input.hasNonNull("client_rack") ? input.get("client_rack").asText() : "");
        }

        @Override
        int randomPartition() {
            return random;
        }
    }

    private Partitioners() {
    }

    public static JsonNode chosen(JsonNode input) throws Exception {
        Map<Integer, Node> brokers = new HashMap<>();
        for (JsonNode one : input.get("brokers")) {
            int id = one.get("id").asInt();
            brokers.put(id, new Node(id, "h", 1, one.hasNonNull("rack") ? one.get("rack").asText() : null));
        }
        List<PartitionInfo> partitions = new ArrayList<>();
        for (JsonNode leader : input.get("leaders")) {
            Node node = leader.isNull() ? null : brokers.get(leader.asInt());
            partitions.add(new PartitionInfo("t", partitions.size(), node, new Node[0], new Node[0]));
        }
        Cluster cluster = new Cluster("c", brokers.values(), partitions, Set.of(), Set.of());
        Replayed partitioner = new Replayed(input);
        if (input.hasNonNull("queue_sizes")) {
            int[] ids = numbers(input.get("partition_ids"));
            String[] racks = new String[ids.length];
            for (int at = 0; at < ids.length; at++) {
                Node leader = partitions.get(ids[at]).leader();
                racks[at] = leader == null ? null : leader.rack();
            }
            partitioner.updatePartitionLoadStats(
                numbers(input.get("queue_sizes")), ids, racks, input.get("length").asInt());
        }
        Method next = BuiltInPartitioner.class.getDeclaredMethod("nextPartition", Cluster.class);
        next.setAccessible(true);
        ObjectNode answer = JSON.createObjectNode();
        ArrayNode chosen = answer.putArray("partitions");
        for (JsonNode random : input.get("randoms")) {
            partitioner.random = random.asInt();
            chosen.add((int) next.invoke(partitioner, cluster));
        }
        return answer;
    }

    private static int[] numbers(JsonNode array) {
        return StreamSupport.stream(array.spliterator(), false).mapToInt(JsonNode::asInt).toArray();
    }
}
