// Package mitigate decides which packets are dropped, policed or counted by rules that
// come and go while the sink runs. New compiles rules into a Table, which all workers
// share; Table.Find is what a worker asks for each packet while there are rules.
//
//	rule.go       a rule, what it has counted, when it ends; the rate of a rule that polices
//	ruletable.go  from rules to bit vectors, and the first rule that selects a packet (package classify)
//	aside.go      the rules in a worker; selector.go: what rules ask of a packet
package mitigate
