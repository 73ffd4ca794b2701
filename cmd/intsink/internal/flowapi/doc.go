// Package flowapi serves /api/v1: what the workers know of flows, paths, queues, links
// and interfaces, as JSON. docs/api.md describes it.
//
// A request goes through server.go (routes, errors, the questions to the workers) to the
// file of its list. parameters.go reads the query, pathfilter.go finds the paths that it
// asks for, paging.go sorts and cuts what the workers answered.
package flowapi
