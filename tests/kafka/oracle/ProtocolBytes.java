import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.TopicPartition;

/** The bytes of the consumer protocol, written and read. */
final class ProtocolBytes {
    private static final ObjectMapper JSON = new ObjectMapper();

    private ProtocolBytes() {
    }

    static JsonNode answered(JsonNode input) {
        ObjectNode answer = JSON.createObjectNode();
        switch (input.get("op").asText()) {
            case "serialize_subscription":
                write(answer, "bytes_base64", ConsumerProtocol.serializeSubscription(subscription(input), version(input)));
                break;
            case "serialize_assignment":
                Assignment assignment = new Assignment(Oracle.listed(input.get("partitions")), data(input));
                write(answer, "bytes_base64", ConsumerProtocol.serializeAssignment(assignment, version(input)));
                break;
            case "deserialize_subscription":
                read(answer, ConsumerProtocol.deserializeSubscription(bytes(input, "bytes_base64")));
                break;
            case "deserialize_assignment":
                Assignment read = ConsumerProtocol.deserializeAssignment(bytes(input, "bytes_base64"));
                Oracle.write(answer.putArray("partitions"), read.partitions());
                write(answer, "user_data_base64", read.userData());
                break;
            case "sticky_user_data":
                write(answer, "bytes_base64", remembered(new StickyAssignor(), input));
                break;
            default:
                write(answer, "bytes_base64", remembered(new CooperativeStickyAssignor(), input));
        }
        return answer;
    }

    private static ByteBuffer remembered(ConsumerPartitionAssignor assignor, JsonNode input) {
        List<TopicPartition> owned = Oracle.listed(input.get("owned"));
        if (input.hasNonNull("generation_id")) {
            assignor.onAssignment(new Assignment(owned),
                new ConsumerGroupMetadata("g", input.get("generation_id").asInt(), "m", Optional.empty()));
        }
        return assignor.subscriptionUserData(Set.of());
    }

    private static short version(JsonNode input) {
        return (short) input.get("version").asInt();
    }

    private static ByteBuffer bytes(JsonNode input, String name) {
        return input.hasNonNull(name) ? ByteBuffer.wrap(Base64.getDecoder().decode(input.get(name).asText())) : null;
    }

    private static ByteBuffer data(JsonNode input) {
        return bytes(input, "user_data_base64");
    }

    private static Subscription subscription(JsonNode input) {
        List<String> topics = new ArrayList<>();
        input.get("topics").forEach(topic -> topics.add(topic.asText()));
        int generation = input.hasNonNull("generation_id") ? input.get("generation_id").asInt() : -1;
        return new Subscription(
            topics, data(input), Oracle.listed(input.get("owned")), generation, Oracle.text(input, "rack_id"));
    }

    private static void read(ObjectNode answer, Subscription read) {
        ArrayNode topics = answer.putArray("topics");
        read.topics().forEach(topics::add);
        Oracle.write(answer.putArray("owned"), read.ownedPartitions());
        write(answer, "user_data_base64", read.userData());
        answer.put("generation_id", read.generationId().orElse(null));
        answer.put("rack_id", read.rackId().orElse(null));
    }

    private static void write(ObjectNode answer, String name, ByteBuffer buffer) {
        if (buffer == null) {
            answer.putNull(name);
            return;
        }
        byte[] bytes = new byte[buffer.remaining()];
        buffer.duplicate().get(bytes);
        answer.put(name, Base64.getEncoder().encodeToString(bytes));
    }
}
