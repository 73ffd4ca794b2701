// Package sinkconf turns the blocks int and node_model of a sink's configuration into what
// the packages below engine read: for the sink itself and for whoever reads its reports.
package sinkconf
