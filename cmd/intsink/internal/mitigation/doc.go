// Package mitigation is the rules by which a running sink drops packets: the API that adds,
// lists and removes them (/api/v1/mitigations, and /aggAttack for Transparent Security's
// analytics), and the command mitigate, its client.
//
//	rule.go     the JSON of a rule
//	match.go    from its texts to what workers compare
//	store.go    the rules that there are, in the workers, and their ends
//	server.go   the routes; aggattack.go those of Transparent Security
//	command.go  the command
package mitigation
