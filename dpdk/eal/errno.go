// Errno: makes Go errors of the error numbers of DPDK functions.

package eal

// #include <rte_errno.h>
import "C"

import (
	"errors"
	"syscall"
)

// dpdkErrno is where DPDK's own error numbers begin.
const dpdkErrno = 1000

// Errno is the error that a DPDK function returned, or left in rte_errno, with
// either sign. errors.Is finds the syscall.Errno in it.
func Errno(code int) error {
	code = max(code, -code)
	if code < dpdkErrno {
		return syscall.Errno(code)
	}
	return errors.New(C.GoString(C.rte_strerror(C.int(code))))
}
