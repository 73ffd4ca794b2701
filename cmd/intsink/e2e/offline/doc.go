// Package offline tests the commands that need no running sink: replay, plan, gen, verify.
package offline
