// Hears of devices that go: see removal.go.

#include <errno.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

uint32_t go_removed[RTE_MAX_ETHPORTS];

static int port_goes(uint16_t port, enum rte_eth_event_type type, void *arg, void *ret) {
	(void)type, (void)arg, (void)ret;
	__atomic_store_n(&go_removed[port], 1, __ATOMIC_RELEASE);
	return 0;
}

static void device_goes(const char *name, enum rte_dev_event_type event, void *arg) {
	uint16_t port;
	(void)arg;
	if (event == RTE_DEV_EVENT_REMOVE && name != NULL && rte_eth_dev_get_port_by_name(name, &port) == 0)
		__atomic_store_n(&go_removed[port], 1, __ATOMIC_RELEASE);
}

// Registered twice, DPDK keeps one.
int go_watch_removal(uint16_t port) {
	int rc = rte_eth_dev_callback_register(port, RTE_ETH_EVENT_INTR_RMV, port_goes, NULL);
	int other = rte_dev_event_callback_register(NULL, device_goes, NULL);
	return rc != 0 ? rc : other == -EEXIST ? 0 : other;
}

void go_tell_removal(const char *name) { rte_dev_event_callback_process(name, RTE_DEV_EVENT_REMOVE); }
