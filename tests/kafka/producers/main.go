// Sends keys with a Go client to a topic: `producers BOOTSTRAP TOPIC PARTITIONER`, a key in base64 on each line of
// standard input. The partitions that the client reports are printed in their order, one a line.
package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"log"
	"os"
	"strings"

	"github.com/IBM/sarama"
	"github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kgo"
)

var saramas = map[string]sarama.PartitionerConstructor{
	"sarama.Hash":          sarama.NewHashPartitioner,
	"sarama.ReferenceHash": sarama.NewReferenceHashPartitioner,
}

var balancers = map[string]kafka.Balancer{
	"kafka-go.Hash":          &kafka.Hash{},
	"kafka-go.ReferenceHash": &kafka.ReferenceHash{},
	"kafka-go.CRC32":         kafka.CRC32Balancer{},
	"kafka-go.Murmur2":       kafka.Murmur2Balancer{},
}

func main() {
	bootstrap, topic, name := strings.Split(os.Args[1], ","), os.Args[2], os.Args[3]
	var keys [][]byte
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		key, err := base64.StdEncoding.DecodeString(lines.Text())
		check(err)
		keys = append(keys, key)
	}
	var partitions []int
	if constructor, ok := saramas[name]; ok {
		partitions = bySarama(bootstrap, topic, constructor, keys)
	} else if balancer, ok := balancers[name]; ok {
		partitions = byKafkaGo(bootstrap, topic, balancer, keys)
	} else {
		partitions = byFranz(bootstrap, topic, keys)
	}
	for _, partition := range partitions {
		fmt.Println(partition)
	}
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func bySarama(bootstrap []string, topic string, constructor sarama.PartitionerConstructor, keys [][]byte) []int {
	config := sarama.NewConfig()
	config.Producer.Partitioner = constructor
	config.Producer.Return.Successes = true
	producer, err := sarama.NewSyncProducer(bootstrap, config)
	check(err)
	messages := make([]*sarama.ProducerMessage, len(keys))
	for at, key := range keys {
		messages[at] = &sarama.ProducerMessage{Topic: topic, Key: sarama.ByteEncoder(key), Value: sarama.ByteEncoder{1}}
	}
	check(producer.SendMessages(messages))
	partitions := make([]int, len(keys))
	for at, message := range messages {
		partitions[at] = int(message.Partition)
	}
	return partitions
}

func byKafkaGo(bootstrap []string, topic string, balancer kafka.Balancer, keys [][]byte) []int {
	partitions := make([]int, len(keys))
	writer := &kafka.Writer{Addr: kafka.TCP(bootstrap...), Topic: topic, Balancer: balancer, RequiredAcks: kafka.RequireAll}
	writer.Completion = func(messages []kafka.Message, err error) {
		check(err)
		for _, message := range messages {
			partitions[message.WriterData.(int)] = message.Partition
		}
	}
	messages := make([]kafka.Message, len(keys))
	for at, key := range keys {
		messages[at] = kafka.Message{Key: key, Value: []byte{1}, WriterData: at}
	}
	check(writer.WriteMessages(context.Background(), messages...))
	check(writer.Close())
	return partitions
}

func byFranz(bootstrap []string, topic string, keys [][]byte) []int {
	client, err := kgo.NewClient(kgo.SeedBrokers(bootstrap...), kgo.DefaultProduceTopic(topic))
	check(err)
	records := make([]*kgo.Record, len(keys))
	for at, key := range keys {
		records[at] = &kgo.Record{Key: key, Value: []byte{1}}
	}
	check(client.ProduceSync(context.Background(), records...).FirstErr())
	partitions := make([]int, len(keys))
	for at, record := range records {
		partitions[at] = int(record.Partition)
	}
	return partitions
}
