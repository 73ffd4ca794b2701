// Package page tests what a running sink shows: its page in a browser, its metrics in Prometheus.
package page
