// Package allsinks answers the questions of a sink's API over all sinks of a network: it asks each sink the same, merges what
// they say, and says which of them did not answer. It keeps no history and needs no store: what it knows, sinks told just now.
//
// sinks.go is the set of sinks, sink.go one of them, question.go what all of them are asked once however many people look;
// server.go the routes. A file for each kind of answer has how it is merged: problems.go, lists.go, episodes.go, history.go,
// status.go, incident.go; what sinks remember no more comes out of a store (past.go, pastincident.go). Answers are JSON objects as they came (object.go), so that what a newer sink says in fields that this
// program does not know is passed on.
package allsinks
