import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.coordinator.group.api.streams.assignor.TopologyDescriber;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentConfigsImpl;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.MemberMetadataAndStateImpl;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;

/** The sticky task assignor of streams groups, with the interfaces that it has since Kafka 4.4. */
public final class StreamsGroups {
    private static final ObjectMapper JSON = new ObjectMapper();

    static JsonNode assigned(JsonNode input) {
        Map<String, MemberMetadataAndStateImpl> members = new HashMap<>();
        for (JsonNode member : input.get("members")) {
            Map<String, String> tags = new HashMap<>();
            if (member.hasNonNull("client_tags")) {
                member.get("client_tags").fields().forEachRemaining(tag -> tags.put(tag.getKey(), tag.getValue().asText()));
            }
            members.put(member.get("id").asText(), new MemberMetadataAndStateImpl(
                text(member, "instance_id"), text(member, "rack_id"), member.get("process_id").asText(), tags,
                tasks(member.get("active")), tasks(member.get("standby")), tasks(member.get("warmup")),
                offsets(member.get("task_offsets")), offsets(member.get("task_end_offsets"))));
        }
        Map<String, String> configs = new HashMap<>();
        input.get("configs").fields().forEachRemaining(one -> configs.put(one.getKey(), one.getValue().asText()));
        Map<String, JsonNode> topology = new HashMap<>();
        List<String> names = new ArrayList<>();
        for (JsonNode subtopology : input.get("subtopologies")) {
            names.add(subtopology.get("id").asText());
            topology.put(subtopology.get("id").asText(), subtopology);
        }
        TopologyDescriber describer = new TopologyDescriber() {
            @Override
            public List<String> subtopologies() {
                return names;
            }

            @Override
            public int maxNumInputPartitions(String subtopology) {
                return topology.get(subtopology).get("n_partitions").asInt();
            }

            @Override
            public boolean isStateful(String subtopology) {
                return topology.get(subtopology).get("stateful").asBoolean();
            }
        };
        ObjectNode answer = JSON.createObjectNode();
        ObjectNode lists = answer.putObject("assignment");
        new StickyTaskAssignor()
            .assign(new GroupSpecImpl(members, AssignmentConfigsImpl.fromMap(configs)), describer)
            .members()
            .forEach((member, assignment) -> {
                ObjectNode of = lists.putObject(member);
                write(of.putArray("active"), assignment.activeTasks());
                write(of.putArray("standby"), assignment.standbyTasks());
                of.putArray("warmup");
            });
        return answer;
    }

    private static Optional<String> text(JsonNode node, String name) {
        return node.hasNonNull(name) ? Optional.of(node.get(name).asText()) : Optional.empty();
    }

    private static void write(ArrayNode rows, Map<String, Set<Integer>> tasks) {
        new TreeMap<>(tasks).forEach((subtopology, partitions) -> {
            ArrayNode row = rows.addArray().add(subtopology).addArray();
            new TreeSet<>(partitions).forEach(row::add);
        });
    }

    private static Map<String, Set<Integer>> tasks(JsonNode rows) {
        Map<String, Set<Integer>> tasks = new HashMap<>();
        if (rows != null) {
            for (JsonNode row : rows) {
                Set<Integer> partitions = new HashSet<>();
                row.get(1).forEach(partition -> partitions.add(partition.asInt()));
                tasks.put(row.get(0).asText(), partitions);
            }
        }
        return tasks;
    }

    private static Map<String, Map<Integer, Long>> offsets(JsonNode rows) {
        Map<String, Map<Integer, Long>> offsets = new HashMap<>();
        if (rows != null) {
            for (JsonNode row : rows) {
                Map<Integer, Long> of = new HashMap<>();
                row.get(1).forEach(pair -> of.put(pair.get(0).asInt(), pair.get(1).asLong()));
                offsets.put(row.get(0).asText(), of);
            }
        }
        return offsets;
    }
}
