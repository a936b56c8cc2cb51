import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.coordinator.group.streams.assignor.AssignmentMemberSpec;
import org.apache.kafka.coordinator.group.streams.assignor.GroupSpecImpl;
import org.apache.kafka.coordinator.group.streams.assignor.StickyTaskAssignor;
import org.apache.kafka.coordinator.group.streams.assignor.TaskId;
import org.apache.kafka.coordinator.group.streams.assignor.TopologyDescriber;

/** The sticky task assignor of streams groups, with the classes that it has in Kafka 4.1 to 4.3. */
public final class StreamsGroups {
    private static final ObjectMapper JSON = new ObjectMapper();

    static JsonNode assigned(JsonNode input) {
        Map<String, AssignmentMemberSpec> members = new HashMap<>();
        for (JsonNode member : input.get("members")) {
            members.put(member.get("id").asText(), new AssignmentMemberSpec(
                StreamsRows.text(member, "instance_id"), StreamsRows.text(member, "rack_id"),
                StreamsRows.tasks(member.get("active")), StreamsRows.tasks(member.get("standby")),
                StreamsRows.tasks(member.get("warmup")), member.get("process_id").asText(),
                StreamsRows.texts(member.get("client_tags")),
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
            .assign(new GroupSpecImpl(members, StreamsRows.texts(input.get("configs"))), describer)
            .members()
            .forEach((member, assignment) -> {
                ObjectNode of = lists.putObject(member);
                StreamsRows.write(of.putArray("active"), assignment.activeTasks());
                StreamsRows.write(of.putArray("standby"), assignment.standbyTasks());
                of.putArray("warmup");
            });
        return answer;
    }

    private static Map<TaskId, Long> offsets(JsonNode rows) {
        Map<TaskId, Long> offsets = new HashMap<>();
        if (rows != null) {
            for (JsonNode row : rows) {
                String subtopology = row.get(0).asText();
                row.get(1).forEach(pair -> offsets.put(new TaskId(subtopology, pair.get(0).asInt()), pair.get(1).asLong()));
            }
        }
        return offsets;
    }
}
