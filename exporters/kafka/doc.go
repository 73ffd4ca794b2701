// Package kafka produces records to a topic of Apache Kafka, one message a record, with an
// idempotent producer that waits until all in-sync replicas have acknowledged (acks=all).
//
// The client is never told to give a record up, neither by cancellation nor by a time
// limit: the broker may have stored such a record already, and would not recognise it when
// it is sent again. Records that the client still holds when it is closed are sent again by
// the next client, under the same id.
package kafka
