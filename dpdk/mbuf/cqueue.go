// CQueue: the functions of a queue that C calls without Go.

package mbuf

// CQueue is one rx and one tx queue for loops in C (engine/fast). The zero value is of a queue that
// has none of the two functions, which are addresses of
//
//	uint16_t receive(uint64_t queue, struct rte_mbuf **vec)
//	uint16_t transmit(uint64_t queue, struct rte_mbuf **vec, uint16_t n)
//
// They do what RxBurst and TxBurst of the queue do: vec has room for MaxBurst packets.
type CQueue struct {
	Queue    uintptr // what both are given
	Receive  uintptr
	Transmit uintptr
}
