import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.TaskMetadata;
import org.apache.kafka.streams.ThreadMetadata;

/**
 * Clients and tools of Kafka in one JVM, which many of them share: a line of standard input is a request, an object whose
 * member "do" names it, and a line of standard output its answer, with "failure" if it failed.
 */
public final class Clients {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Map<String, Member> MEMBERS = new LinkedHashMap<>();
    private static final Printed PRINTED = new Printed();
    private static final Printed ERRORS = new Printed();

    /** Of a group that rebalances without end meanwhile, a client would wait for it. */
    private static final Duration CLOSES_WITHIN = Duration.ofSeconds(3);

    /** A member of a group, polled by a thread of its own. */
    private interface Member {
        void leave() throws Exception;

        void describe(ObjectNode node);
    }

    /** What tools print. */
    private static final class Printed extends OutputStream {
        private ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        @Override
        public synchronized void write(int each) {
            bytes.write(each);
        }

        synchronized String taken() {
            String text = bytes.toString(StandardCharsets.UTF_8);
            bytes = new ByteArrayOutputStream();
            return text;
        }
    }

    /** Thrown where a tool would end the JVM. Some tools catch it and end once more: the first status counts. */
    private static final class Ended extends Error {
        private static final long serialVersionUID = 1;

        Ended() {
            super("the end of a tool", null, false, false);
        }
    }

    /** The first end of the tool that runs; null before it. */
    private static ObjectNode end;

    public static void main(String[] arguments) throws Exception {
        PrintStream answers = System.out;
        System.setOut(new PrintStream(PRINTED, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(ERRORS, true, StandardCharsets.UTF_8));
        keepRunning();
        BufferedReader read = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = read.readLine(); line != null; line = read.readLine()) {
            ObjectNode answer = JSON.createObjectNode();
            try {
                answer(JSON.readTree(line), answer);
            } catch (Exception | Error failure) {
                answer.put("failure", failure + "\n" + ERRORS.taken());
            }
            answers.println(JSON.writeValueAsString(answer));
            answers.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    /** Have tools that would end the JVM throw; Kafka 4.4 has moved the class that ends it. */
    private static void keepRunning() throws Exception {
        Class<?> exit;
        try {
            exit = Class.forName("org.apache.kafka.common.utils.internals.Exit");
        } catch (ClassNotFoundException before) {
            exit = Class.forName("org.apache.kafka.common.utils.Exit");
        }
        Class<?> procedure = Class.forName(exit.getName() + "$Procedure");
        Object thrower = Proxy.newProxyInstance(Clients.class.getClassLoader(), new Class<?>[] {procedure},
            (proxy, method, arguments) -> {
                end = end == null ? ended((int) arguments[0]) : end;
                throw new Ended();
            });
        exit.getMethod("setExitProcedure", procedure).invoke(null, thrower);
    }

    private static void answer(JsonNode asked, ObjectNode answer) throws Exception {
        switch (asked.get("do").asText()) {
            case "tool": tool(asked, answer); break;
            case "join": MEMBERS.put(asked.get("name").asText(), joined(asked)); break;
            case "leave": MEMBERS.remove(asked.get("name").asText()).leave(); break;
            case "members":
                MEMBERS.forEach((name, member) -> member.describe(answer.putObject(name)));
                break;
            case "share_group": shareGroup(asked, answer); break;
            case "produce": produce(asked, answer); break;
            default: throw new IllegalArgumentException(asked.get("do").asText());
        }
    }

    private static void tool(JsonNode asked, ObjectNode answer) throws Exception {
        List<String> arguments = new ArrayList<>();
        asked.get("arguments").forEach(each -> arguments.add(each.asText()));
        end = null;
        ended(0);
        try {
            Class.forName(asked.get("class").asText()).getMethod("main", String[].class)
                .invoke(null, (Object) arguments.toArray(new String[0]));
        } catch (InvocationTargetException failure) {
            if (!(failure.getCause() instanceof Ended)) {
                throw failure;
            }
        }
        answer.setAll(end == null ? ended(0) : end);
    }

    private static ObjectNode ended(int status) {
        System.out.flush();
        System.err.flush();
        return JSON.createObjectNode().put("status", status).put("printed", PRINTED.taken()).put("errors", ERRORS.taken());
    }

    private static Properties properties(JsonNode asked) {
        Properties properties = new Properties();
        asked.get("properties").fields().forEachRemaining(one -> properties.put(one.getKey(), one.getValue().asText()));
        return properties;
    }

    private static Member joined(JsonNode asked) throws Exception {
        List<String> topics = new ArrayList<>();
        asked.get("topics").forEach(topic -> topics.add(topic.asText()));
        switch (asked.get("kind").asText()) {
            case "consumer": return new Consumer(properties(asked), topics);
            case "share": return new ShareConsumer(properties(asked), topics);
            default: return new Streams(properties(asked), topics);
        }
    }

    private static final class Consumer implements Member, Runnable {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final Thread thread = new Thread(this);
        private volatile boolean ends;
        private volatile String id = "";
        private volatile Collection<TopicPartition> assignment = List.of();

        Consumer(Properties properties, List<String> topics) {
            consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            consumer.subscribe(topics);
            thread.start();
        }

        @Override
        public void run() {
            while (!ends) {
                consumer.poll(Duration.ofMillis(100));
                id = consumer.groupMetadata().memberId();
                assignment = List.copyOf(consumer.assignment());
            }
            consumer.close(CLOSES_WITHIN);
        }

        @Override
        public void leave() throws InterruptedException {
            ends = true;
            thread.join();
        }

        @Override
        public void describe(ObjectNode node) {
            node.put("member_id", id);
            listed(node, assignment);
        }
    }

    private static final class ShareConsumer implements Member, Runnable {
        private final KafkaShareConsumer<byte[], byte[]> consumer;
        private final Thread thread = new Thread(this);
        private volatile boolean ends;

        ShareConsumer(Properties properties, List<String> topics) {
            consumer = new KafkaShareConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
            consumer.subscribe(topics);
            thread.start();
        }

        @Override
        public void run() {
            while (!ends) {
                consumer.poll(Duration.ofMillis(100));
            }
            consumer.close(CLOSES_WITHIN);
        }

        @Override
        public void leave() throws InterruptedException {
            ends = true;
            thread.join();
        }

        @Override
        public void describe(ObjectNode node) {
            // A share consumer knows neither its id nor its partitions.
        }
    }

    /** Counts the records of each key: tasks that have state. */
    private static final class Streams implements Member {
        private final KafkaStreams streams;

        Streams(Properties properties, List<String> topics) {
            StreamsBuilder builder = new StreamsBuilder();
            for (String topic : topics) {
                builder.stream(topic, org.apache.kafka.streams.kstream.Consumed.with(Serdes.ByteArray(), Serdes.ByteArray()))
                    .groupByKey().count();
            }
            streams = new KafkaStreams(builder.build(), properties);
            streams.start();
        }

        @Override
        public void leave() {
            streams.close(CLOSES_WITHIN.multipliedBy(10));
        }

        @Override
        public void describe(ObjectNode node) {
            node.put("state", streams.state().name());
            TreeSet<String> active = new TreeSet<>();
            TreeSet<String> standby = new TreeSet<>();
            for (ThreadMetadata thread : streams.metadataForLocalThreads()) {
                for (TaskMetadata task : thread.activeTasks()) {
                    active.add(task.taskId().toString());
                }
                for (TaskMetadata task : thread.standbyTasks()) {
                    standby.add(task.taskId().toString());
                }
            }
            ArrayNode list = node.putArray("active");
            active.forEach(list::add);
            ArrayNode copies = node.putArray("standby");
            standby.forEach(copies::add);
        }
    }

    private static void listed(ObjectNode node, Collection<TopicPartition> partitions) {
        Map<String, TreeSet<Integer>> byTopic = new TreeMap<>();
        partitions.forEach(each -> byTopic.computeIfAbsent(each.topic(), key -> new TreeSet<>()).add(each.partition()));
        ObjectNode topics = node.putObject("partitions");
        byTopic.forEach((topic, numbers) -> {
            ArrayNode list = topics.putArray(topic);
            numbers.forEach(list::add);
        });
    }

    private static void shareGroup(JsonNode asked, ObjectNode answer) throws Exception {
        String group = asked.get("group").asText();
        try (Admin admin = Admin.create(properties(asked))) {
            admin.describeShareGroups(List.of(group)).all().get().get(group).members().forEach(member -> {
                ObjectNode node = answer.putObject(member.clientId());
                node.put("member_id", member.consumerId());
                listed(node, member.assignment().topicPartitions());
            });
        } catch (ExecutionException failure) {
            if (!(failure.getCause() instanceof GroupIdNotFoundException)) {
                throw failure;
            }
        }
    }

    private static void produce(JsonNode asked, ObjectNode answer) throws Exception {
        String topic = asked.get("topic").asText();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(properties(asked), new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (JsonNode key : asked.get("keys_base64")) {
                byte[] bytes = Base64.getDecoder().decode(key.asText());
                sent.add(producer.send(new ProducerRecord<>(topic, bytes, new byte[] {1})));
            }
            producer.flush();
            ArrayNode partitions = answer.putArray("partitions");
            for (Future<RecordMetadata> each : sent) {
                partitions.add(each.get().partition());
            }
        }
    }
}
