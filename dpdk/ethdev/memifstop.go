// stopMemif: stops a memif port on the thread of its interrupts.

package ethdev

/*
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include <rte_alarm.h>
#include <rte_ethdev.h>

struct go_memif_stop {
	uint16_t port;
	unsigned done;
};

static void go_memif_stop_now(void *job) {
	struct go_memif_stop *j = job;
	rte_eth_dev_stop(j->port);
	__atomic_store_n(&j->done, 1, __ATOMIC_RELEASE);
}

// go_memif_stop waits up to two seconds, and then takes the alarm back: false, the port was not stopped.
static bool go_memif_stop(uint16_t port) {
	struct go_memif_stop *j = calloc(1, sizeof *j);
	if (j == NULL)
		return false;
	j->port = port;
	if (rte_eal_alarm_set(1, go_memif_stop_now, j) != 0) {
		free(j);
		return false;
	}
	for (int i = 0; i < 2000; i++) {
		if (__atomic_load_n(&j->done, __ATOMIC_ACQUIRE)) {
			free(j);
			return true;
		}
		usleep(1000);
	}
	rte_eal_alarm_cancel(go_memif_stop_now, j); // waits while it runs
	bool done = __atomic_load_n(&j->done, __ATOMIC_ACQUIRE);
	free(j);
	return done;
}
*/
import "C"

func (p Port) isMemif() bool {
	info, err := p.Info()
	return err == nil && info.Driver == memifDriver
}

// stopMemif stops a port of net_memif. When the peer goes, the interrupt thread of EAL disconnects the
// port, which frees its rings: nothing keeps that from happening while the port is stopped by
// another thread, so that both free them. An alarm runs on the interrupt thread itself.
func stopMemif(p Port) {
	if !C.go_memif_stop(C.uint16_t(p.id)) {
		C.rte_eth_dev_stop(C.uint16_t(p.id))
	}
}
