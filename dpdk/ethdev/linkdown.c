// Which ports must not send: see linkdown.go.

#include "burst.h"

uint32_t go_link_down[RTE_MAX_ETHPORTS];
