package event

// Most rows of the tables of Things.
const (
	MaxQueues     = maxQueues
	MaxInterfaces = maxInterfaces
	MaxLinks      = maxLinks
)
