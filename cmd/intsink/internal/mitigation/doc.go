// Package mitigation manages the rules by which a running sink drops packets: it serves the API
// that adds, lists and removes them (/api/v1/mitigations, and /aggAttack for Transparent
// Security's analytics), and is its client, the command mitigate.
//
//	rulejson.go   the JSON of a rule; which packets it selects is package packetmatch
//	rulestore.go  keeps the rules, hands them to the workers, ends them
//	keep.go       keeps them over a restart
//	server.go     the routes; aggattack.go those of Transparent Security
//	command.go    the command
package mitigation
