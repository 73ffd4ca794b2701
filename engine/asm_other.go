//go:build !amd64 || purego

package engine

func matchHeaders(q *matchState, b *burst, from int) (next int) { return matchHeadersGo(q, b, from) }

func passUnchanged(q *passState, b *burst, from int) (next int) { return passUnchangedGo(q, b, from) }

func stripUDPv4(b *burst, from int) (next int) { return stripUDPv4Go(b, from) }
