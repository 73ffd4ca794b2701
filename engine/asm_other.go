//go:build !amd64 || purego

package engine

func recallRun(q *recallState, b *burst, from int) (next int) { return recallGo(q, b, from) }

func quietRun(q *quietState, b *burst, from int) (next int) { return quietGo(q, b, from) }

func stripRun(b *burst, from int) (next int) { return stripGo(b, from) }
