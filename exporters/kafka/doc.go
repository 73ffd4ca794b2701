// Package kafka produces records to a topic of Apache Kafka, one message a record, with an
// idempotent producer and all replicas' acknowledgement.
//
// The client is never told to give a record up, neither by cancellation nor by a time
// limit: what was given up may be stored already, and its repetition is not recognised
// by the broker. What the client still has when it is closed is sent again by the next
// one, under the same id.
package kafka
