package vfio

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

const nic = "0000:3b:00.0"

// tree is a machine with a NIC on vfio-pci in group 7, whose files belong to who runs the test.
func tree(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	dev := filepath.Join(root, "sys/bus/pci/devices", nic)
	for _, dir := range []string{dev, root + "/dev/vfio", root + "/etc", root + "/usr/lib/udev/rules.d"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, text := range map[string]string{
		"/dev/vfio/vfio": "", "/dev/vfio/7": "", "/usr/lib/udev/rules.d/60-intsink.rules": "",
		"/etc/passwd": fmt.Sprintf("owner:x:%d:%d::/:/bin/sh\nintsink:x:64001:64002:INT sink:/:/usr/sbin/nologin\n", os.Getuid(), os.Getgid()),
		"/etc/group":  fmt.Sprintf("owners:x:%d:\nintsink:x:64002:\nmore:x:64003:intsink\n", os.Getgid()),
	} {
		if err := os.WriteFile(root+path, []byte(text), 0o660); err != nil {
			t.Fatal(err)
		}
	}
	os.Chmod(root+"/dev/vfio/vfio", 0o666)
	os.Chmod(root+"/dev/vfio/7", 0o660)
	os.Symlink("../../drivers/vfio-pci", dev+"/driver")
	os.Symlink("../../iommu/7", dev+"/iommu_group")
	return root
}

// TestMayOpen: by owner, group and others, as the kernel decides.
func TestMayOpen(t *testing.T) {
	root := tree(t)
	nodes := Nodes(root, nic)
	if len(nodes) != 2 || nodes[0].Path != "/dev/vfio/vfio" || nodes[1].Path != "/dev/vfio/7" {
		t.Fatalf("%+v", nodes)
	}
	u, found := FindUser(root, "intsink", "")
	if !found || len(u.GIDs) != 2 || u.GIDs[0] != 64002 || u.GIDs[1] != 64003 {
		t.Fatalf("%+v", u)
	}
	if _, found := FindUser(root, "nobody", ""); found {
		t.Error("a user who is in no list is found")
	}
	if u, _ := FindUser(root, "intsink", "owners"); !nodes[1].MayOpen(u) {
		t.Error("the group of the service does not count")
	}
	for _, c := range []struct {
		node Node
		may  bool
	}{
		{nodes[0], true}, {nodes[1], false}, {Node{Mode: 0o660, GID: 64003}, true}, {Node{Mode: 0o640, GID: 64002}, false},
		{Node{Mode: 0o600, UID: 64001}, true}, {Node{Mode: 0o066, UID: 64001}, false}, {Node{Mode: 0o606, GID: 64002}, false}, {Node{Missing: true}, false},
	} {
		if c.node.MayOpen(u) != c.may {
			t.Errorf("%+v: %v", c.node, !c.may)
		}
	}
	if want := "/dev/vfio/7 (owner:owners, mode 0660)"; os.Getuid() != os.Getgid()+1 && nodes[1].Text(root) != want {
		t.Errorf("%q, want %q", nodes[1].Text(root), want)
	}
	os.Rename(root+"/dev/vfio/7", root+"/dev/vfio/noiommu-7")
	if n := Nodes(root, nic); n[1].Path != "/dev/vfio/noiommu-7" {
		t.Errorf("without an IOMMU: %+v", n)
	}
}

// TestRefusal: an error names the file, its owner, and what gives it to the service.
func TestRefusal(t *testing.T) {
	root := tree(t)
	for _, c := range []struct {
		name, file string
		err        error
		want       []string
	}{
		{"all is well", "", nil, nil},
		{"the unit forgot the container", "vfio", unix.EPERM, []string{"/dev/vfio/vfio may not be opened by this service", "DeviceAllow=/dev/vfio/vfio rw"}},
		{"the group is root's", "7", unix.EACCES, []string{"/dev/vfio/7 (owner:owners, mode 0660) is not for user owner", "the rule /usr/lib/udev/rules.d/60-intsink.rules gives it to the group intsink: touch /usr/lib/udev/rules.d/60-intsink.rules && udevadm control --reload"}},
		{"another process has it", "7", unix.EBUSY, []string{"/dev/vfio/7 is open in another process"}},
		{"no module", "vfio", unix.ENOENT, []string{"modprobe vfio-pci"}},
		{"something else", "7", unix.EIO, []string{"/dev/vfio/7", "input/output error"}},
	} {
		open := func(path string) error {
			if filepath.Base(path) == c.file {
				return c.err
			}
			return nil
		}
		got := Refusal(root, nic, open)
		if len(c.want) == 0 && got != "" {
			t.Errorf("%s: %q", c.name, got)
		}
		for _, want := range c.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q in it", c.name, got, want)
			}
		}
	}
	if got := Refusal(root, "0000:5e:00.0", Open); !strings.Contains(got, "there is no PCI device 0000:5e:00.0") {
		t.Errorf("%q", got)
	}
	if got := Refusal(root, nic, Open); got != "" {
		t.Errorf("files that can be opened: %q", got)
	}
	os.Remove(root + "/usr/lib/udev/rules.d/60-intsink.rules")
	if got := Refusal(root, nic, func(string) error { return unix.EACCES }); !strings.Contains(got, "deploy/package/udev.rules") {
		t.Errorf("without the rule: %q", got)
	}
}
