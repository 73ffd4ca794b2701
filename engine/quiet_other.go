//go:build !amd64 || purego

package engine

func quietRun(q *quietState, b *burst, from int) (next int) { return quietGo(q, b, from) }
