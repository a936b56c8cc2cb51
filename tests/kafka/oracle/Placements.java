import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** AdminUtils, which Kafka has up to 4.0: its classes are found by name, so that this compiles with every release. */
final class Placements {
    private static final ObjectMapper JSON = new ObjectMapper();

    private Placements() {
    }

    static JsonNode assigned(JsonNode input) throws Exception {
        Class<?> placer = Class.forName("org.apache.kafka.admin.AdminUtils");
        Constructor<?> broker =
            Class.forName("org.apache.kafka.admin.BrokerMetadata").getConstructor(int.class, Optional.class);
        List<Object> brokers = new ArrayList<>();
        for (JsonNode one : input.get("brokers")) {
            brokers.add(broker.newInstance(one.get("id").asInt(), Oracle.text(one, "rack")));
        }
        if (input.hasNonNull("random_seed")) {
            Field random = placer.getDeclaredField("RAND");
            random.setAccessible(true);
            ((Random) random.get(null)).setSeed(input.get("random_seed").asLong());
        }
        int start = input.get("start_partition_id").asInt();
        Map<?, ?> lists = (Map<?, ?>) placer
            .getMethod("assignReplicasToBrokers", Collection.class, int.class, int.class, int.class, int.class)
            .invoke(null, brokers, input.get("n_partitions").asInt(), input.get("replication_factor").asInt(),
                input.get("fixed_start_index").asInt(), start);
        ObjectNode answer = JSON.createObjectNode();
        int first = Math.max(0, start);
        answer.put("first_partition_id", first);
        ArrayNode replicas = answer.putArray("replicas");
        for (int partition = 0; partition < lists.size(); partition++) {
            replicas.add(JSON.valueToTree(lists.get(first + partition)));
        }
        return answer;
    }

    static JsonNode alternated(JsonNode input) throws Exception {
        Map<Integer, String> racks = new HashMap<>();
        for (JsonNode one : input.get("brokers")) {
            racks.put(one.get("id").asInt(), Oracle.text(one, "rack").orElse(null));
        }
        ObjectNode answer = JSON.createObjectNode();
        answer.set("broker_ids", JSON.valueToTree(Class.forName("org.apache.kafka.admin.AdminUtils")
            .getMethod("getRackAlternatedBrokerList", Map.class).invoke(null, racks)));
        return answer;
    }
}
