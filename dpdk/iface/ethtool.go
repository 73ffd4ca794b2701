// Asks ethtool (ioctl) for offloads GRO and LRO and for link speed; SetMTU.

package iface

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offloads are those that hand over frames which were never on the wire.
type Offloads struct {
	GRO bool // the kernel joins received frames of a flow
	TSO bool // a sender leaves frames joined for the device to cut; the peer of a veth gets them so
	LRO bool // the NIC does, without a way back
}

const ( // linux/ethtool.h
	ethtoolGetSettings = 0x01
	ethtoolGetTSO      = 0x1e
	ethtoolGetFlags    = 0x25
	ethtoolGetGRO      = 0x2b
	flagLRO            = 1 << 15
)

// ReadOffloads asks the driver which offloads are on. Offloads that a driver cannot tell count
// as off.
func ReadOffloads(name string) (o Offloads) {
	var value [8]byte // struct ethtool_value
	if ethtool(name, ethtoolGetGRO, value[:]) == nil {
		o.GRO = binary.NativeEndian.Uint32(value[4:]) != 0
	}
	if ethtool(name, ethtoolGetTSO, value[:]) == nil {
		o.TSO = binary.NativeEndian.Uint32(value[4:]) != 0
	}
	if ethtool(name, ethtoolGetFlags, value[:]) == nil {
		o.LRO = binary.NativeEndian.Uint32(value[4:])&flagLRO != 0
	}
	return o
}

// Speed of the interface's link in Mbit/s, 0 where the driver does not tell.
func Speed(name string) int {
	var c [44]byte // struct ethtool_cmd
	if ethtool(name, ethtoolGetSettings, c[:]) != nil {
		return 0
	}
	low, high := binary.NativeEndian.Uint16(c[12:]), binary.NativeEndian.Uint16(c[28:])
	if speed := uint32(high)<<16 | uint32(low); speed != 0xffffffff && speed != 0xffff {
		return int(speed)
	}
	return 0
}

// ifreqData is struct ifreq with ifr_data.
type ifreqData struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [16]byte
}

// ethtool asks the driver of the interface; arg starts with the command, which
// ethtool puts there.
func ethtool(name string, command uint32, arg []byte) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	clear(arg)
	binary.NativeEndian.PutUint32(arg, command)
	r := ifreqData{data: unsafe.Pointer(&arg[0])}
	copy(r.name[:unix.IFNAMSIZ-1], name)
	// SAFETY: arg is as long as the structure of its command, which the kernel fills
	// before the call returns.
	if _, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&r))); errno != 0 {
		return errno
	}
	return nil
}

// SetMTU gives the interface another MTU. It takes CAP_NET_ADMIN.
func SetMTU(name string, mtu int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("interface %q: %w", name, err)
	}
	defer unix.Close(fd)
	r, err := unix.NewIfreq(name)
	if err == nil {
		r.SetUint32(uint32(mtu))
		err = unix.IoctlIfreq(fd, unix.SIOCSIFMTU, r)
	}
	if err != nil {
		return fmt.Errorf("interface %q: cannot set MTU %d: %w; leave mtu out of the port, and set it with ip link set %s mtu %d", name, mtu, err, name, mtu)
	}
	return nil
}
