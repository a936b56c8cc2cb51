import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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
            members.put(member.get("id").asText(), new MemberMetadataAndStateImpl(
                StreamsRows.text(member, "instance_id"), StreamsRows.text(member, "rack_id"),
                member.get("process_id").asText(), StreamsRows.texts(member.get("client_tags")),
                StreamsRows.tasks(member.get("active")), StreamsRows.tasks(member.get("standby")),
                StreamsRows.tasks(member.get("warmup")),
                offsets(member.get("task_offsets")), offsets(member.get("task_end_offsets"))));
        }
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
            .assign(
                new GroupSpecImpl(members, AssignmentConfigsImpl.fromMap(StreamsRows.texts(input.get("configs")))),
                describer)
            .members()
            .forEach((member, assignment) -> {
                ObjectNode of = lists.putObject(member);
                StreamsRows.write(of.putArray("active"), assignment.activeTasks());
                StreamsRows.write(of.putArray("standby"), assignment.standbyTasks());
                of.putArray("warmup");
            });
        return answer;
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
