// Package vfio says who may open the files by which a process gets a PCI device of its own: the
// container /dev/vfio/vfio and the device's group /dev/vfio/N. It reads sysfs, /dev and the lists of
// users below a root that tests replace.
package vfio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Node is a file that whoever wants the device must open.
type Node struct {
	Path     string // below the root
	Mode     fs.FileMode
	UID, GID uint32
	Missing  bool
}

// Address is the PCI address of a device as sysfs has it: devargs may leave out the domain, and have arguments behind.
func Address(devargs string) string {
	address, _, _ := strings.Cut(strings.ToLower(devargs), ",")
	if strings.Count(address, ":") == 1 {
		address = "0000:" + address
	}
	return address
}

// Driver is the kernel driver that a PCI device has now, "" where there is none, or no such device.
func Driver(root, address string) string { return link(root, address, "driver") }

// Nodes are the container, and the group of the device; only the container where it has no group.
func Nodes(root, address string) []Node {
	all := []Node{look(root, "/dev/vfio/vfio")}
	if g := link(root, address, "iommu_group"); g != "" {
		n := look(root, "/dev/vfio/"+g)
		if without := look(root, "/dev/vfio/noiommu-"+g); n.Missing && !without.Missing {
			n = without
		}
		all = append(all, n)
	}
	return all
}

func link(root, address, name string) string {
	to, err := os.Readlink(filepath.Join(root, "sys/bus/pci/devices", address, name))
	if err != nil {
		return ""
	}
	return filepath.Base(to)
}

func look(root, path string) Node {
	n := Node{Path: path}
	info, err := os.Stat(filepath.Join(root, path))
	if err != nil {
		n.Missing = true
		return n
	}
	n.Mode = info.Mode().Perm()
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		n.UID, n.GID = s.Uid, s.Gid
	}
	return n
}

// MayOpen reports whether u may read and write the file, by its owner, group and mode.
func (n *Node) MayOpen(u *User) bool {
	switch {
	case n.Missing:
		return false
	case u.UID == 0:
		return true
	case u.UID == n.UID:
		return n.Mode&0o600 == 0o600
	case u.has(n.GID):
		return n.Mode&0o060 == 0o060
	}
	return n.Mode&0o006 == 0o006
}

// Text is the file with its owner and mode, by the names below root.
func (n *Node) Text(root string) string {
	if n.Missing {
		return n.Path + " (not there)"
	}
	return fmt.Sprintf("%s (%s:%s, mode %#o)", n.Path, nameOf(root, "etc/passwd", n.UID), nameOf(root, "etc/group", n.GID), uint32(n.Mode))
}

// RuleFile is the file of the udev rule that gives groups of VFIO to the group intsink, "" where none
// is installed.
func RuleFile(root string) string {
	for _, dir := range []string{"/etc/udev/rules.d", "/usr/lib/udev/rules.d", "/lib/udev/rules.d"} {
		path := dir + "/60-intsink.rules"
		if _, err := os.Stat(filepath.Join(root, path)); err == nil {
			return path
		}
	}
	return ""
}

// Apply is the command that has udevd read the rule of the file anew and give the groups that are
// there: it reads a file again only where that is newer, and leaves out a rule whose group it did not
// know when it read it.
func Apply(ruleFile string) string {
	return "touch " + ruleFile + " && udevadm control --reload && udevadm trigger --subsystem-match=vfio"
}

// Refusal says why this process cannot have the PCI device at address, as far as the files tell;
// empty where nothing speaks against it. open opens a file for reading and writing.
func Refusal(root, address string, open func(path string) error) string {
	driver := Driver(root, address)
	if _, err := os.Stat(filepath.Join(root, "sys/bus/pci/devices", address)); err != nil {
		return "there is no PCI device " + address + ": dpdk-devbind.py --status-dev net lists those that there are"
	}
	if driver != "vfio-pci" {
		return ""
	}
	for _, n := range Nodes(root, address) {
		if err := open(filepath.Join(root, n.Path)); err != nil {
			return n.refusal(root, err)
		}
	}
	return ""
}

// refusal explains an error of opening the file.
func (n *Node) refusal(root string, err error) string {
	me := nameOf(root, "etc/passwd", uint32(os.Geteuid()))
	switch {
	case errors.Is(err, unix.EBUSY):
		return n.Path + " is open in another process: a group of VFIO has one owner at a time (fuser " + n.Path + ")"
	case errors.Is(err, unix.EPERM): // not by its mode: the device policy of a control group
		return n.Path + " may not be opened by this service, whatever its owner: a unit needs DeviceAllow=/dev/vfio/vfio rw and DeviceAllow=char-vfio rw, a container --device /dev/vfio/vfio --device " + n.Path
	case errors.Is(err, unix.EACCES):
		text := fmt.Sprintf("%s is not for user %s, as whom this process runs", n.Text(root), me)
		if rule := RuleFile(root); rule != "" {
			return text + ": the rule " + rule + " gives it to the group intsink: " + Apply(rule)
		}
		return text + ": chown " + me + " " + n.Path + ", or a udev rule as deploy/package/udev.rules"
	case errors.Is(err, unix.ENOENT):
		return n.Path + " is not there: modprobe vfio-pci"
	}
	return fmt.Sprintf("%s cannot be opened: %v", n.Text(root), err)
}

// Open opens a file for reading and writing, and closes it again.
func Open(path string) error {
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

// User is who opens files.
type User struct {
	Name string
	UID  uint32
	GIDs []uint32
}

func (u *User) has(gid uint32) bool {
	for _, g := range u.GIDs {
		if g == gid {
			return true
		}
	}
	return false
}

// FindUser looks a user up by name or number in the files below root, with a group besides its own; false: there is none.
func FindUser(root, name, group string) (*User, bool) {
	u := &User{Name: name}
	for _, f := range entries(root, "etc/passwd") {
		if f[0] != name && f[2] != name || len(f) < 4 {
			continue
		}
		u.UID, u.GIDs = number(f[2]), []uint32{number(f[3])}
		for _, g := range entries(root, "etc/group") {
			members := strings.Split(g[len(g)-1], ",")
			for _, m := range append(members, "") {
				if len(g) > 3 && m == f[0] && m != "" {
					u.GIDs = append(u.GIDs, number(g[2]))
				}
			}
			if g[0] == group {
				u.GIDs = append(u.GIDs, number(g[2]))
			}
		}
		return u, true
	}
	return nil, false
}

// nameOf is the name of a number in a list of users or groups, or the number.
func nameOf(root, file string, id uint32) string {
	for _, f := range entries(root, file) {
		if f[2] == strconv.Itoa(int(id)) {
			return f[0]
		}
	}
	return strconv.Itoa(int(id))
}

// entries are the lines of a file such as /etc/passwd, by their fields: three at least.
func entries(root, file string) (all [][]string) {
	b, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(b)) {
		if f := strings.Split(strings.TrimSpace(line), ":"); len(f) > 2 {
			all = append(all, f)
		}
	}
	return all
}

func number(s string) uint32 {
	n, _ := strconv.ParseUint(s, 10, 32)
	return uint32(n)
}
