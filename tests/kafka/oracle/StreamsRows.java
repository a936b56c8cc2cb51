import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Parts of vectors of streams groups. */
final class StreamsRows {
    private StreamsRows() {
    }

    static Map<String, String> texts(JsonNode node) {
        Map<String, String> texts = new HashMap<>();
        if (node != null) {
            node.fields().forEachRemaining(one -> texts.put(one.getKey(), one.getValue().asText()));
        }
        return texts;
    }

    static Optional<String> text(JsonNode node, String name) {
        return node.hasNonNull(name) ? Optional.of(node.get(name).asText()) : Optional.empty();
    }

    static void write(ArrayNode rows, Map<String, Set<Integer>> tasks) {
        new TreeMap<>(tasks).forEach((subtopology, partitions) -> {
            ArrayNode row = rows.addArray().add(subtopology).addArray();
            new TreeSet<>(partitions).forEach(row::add);
        });
    }

    static Map<String, Set<Integer>> tasks(JsonNode rows) {
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
}
