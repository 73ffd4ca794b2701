// Package mitigate decides which packets are dropped, policed or counted by rules that
// come and go while the sink runs. New compiles rules into a Table, which all workers
// share; package selector finds the rule of a packet.
//
//	rule.go   a rule and what it has counted, the table of all; the rate of a rule that polices
//	aside.go  the rules in a worker
package mitigate
