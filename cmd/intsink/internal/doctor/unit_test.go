package doctor

import (
	"slices"
	"testing"
)

// TestUnit: systemd's order of folders and drop-ins, and an empty value that takes back what was set.
func TestUnit(t *testing.T) {
	if u := unitOf(&host{root: machine(t, nil).Root}); u != nil {
		t.Errorf("a unit where there is none: %v", u)
	}
	u := unitOf(&host{root: machine(t, map[string]string{
		"usr/lib/systemd/system/intsink.service":           "[Service]\nUser=packaged",
		"etc/systemd/system/intsink.service":               "[Service]\n# User=none\n;User=none\nUser = mine\nDeviceAllow=/dev/a rw\nGroup=g",
		"usr/lib/systemd/system/intsink.service.d/50.conf": "[Service]\nLimitMEMLOCK=1G\nDeviceAllow=/dev/b rw",
		"usr/lib/systemd/system/intsink.service.d/90.conf": "[Service]\nLimitMEMLOCK=2G",
		"etc/systemd/system/intsink.service.d/10.conf":     "[Service]\nLimitMEMLOCK=3G\nDeviceAllow=\nGroup=",
		"etc/systemd/system/intsink.service.d/90.conf":     "[Service]\nLimitMEMLOCK=4G",
		"etc/systemd/system/intsink.service.d/99.off":      "[Service]\nLimitMEMLOCK=5G",
	}).Root})
	if u.last("User") != "mine" || u.last("Group") != "" || u.last("Nice") != "" || !slices.Equal(u["LimitMEMLOCK"], []string{"3G", "1G", "4G"}) || !slices.Equal(u["DeviceAllow"], []string{"/dev/b rw"}) {
		t.Errorf("%v", u)
	}
}

// TestAllows: the device policy as systemd applies it to the container and a group of VFIO.
func TestAllows(t *testing.T) {
	for _, c := range []struct {
		name             string
		policy           string
		allow            []string
		container, group bool
	}{
		{"no policy", "", nil, true, true},
		{"auto", "auto", nil, true, true},
		{"auto with a list", "auto", []string{"/dev/net/tun rw"}, false, false},
		{"closed", "closed", nil, false, false},
		{"strict", "strict", []string{"/dev/vfio/vfio rw", "char-vfio rw"}, true, true},
		{"the groups alone", "closed", []string{"char-vfio rw"}, false, true},
		{"the container alone", "closed", []string{"/dev/vfio/vfio"}, true, false},
		{"all misc devices", "closed", []string{"char-misc rwm"}, true, false},
		{"one group", "closed", []string{"/dev/vfio/7 rw"}, false, true},
		{"a pattern", "closed", []string{"char-* rw"}, true, true},
		{"to read", "closed", []string{"char-vfio r", "/dev/vfio/vfio r"}, false, false},
	} {
		u := unit{"DeviceAllow": c.allow}
		if c.policy != "" {
			u["DevicePolicy"] = []string{c.policy}
		}
		if container, group := u.allows("/dev/vfio/vfio"), u.allows("/dev/vfio/7"); container != c.container || group != c.group {
			t.Errorf("%s: container %v, group %v", c.name, container, group)
		}
	}
}

// TestVFIOFilesOfRoot: a service of root's may open whatever its unit lets it, and needs no entry.
func TestVFIOFilesOfRoot(t *testing.T) {
	files := good()
	delete(files, "etc/passwd")
	files["dev/vfio/7"], files["dev/vfio/vfio"] = "mode 600", "mode 600"
	files["etc/systemd/system/intsink.service.d/root.conf"] = "[Service]\nUser=root\nLimitMEMLOCK=8M"
	if bad := wrong(machine(t, files), config()); len(bad) != 0 {
		t.Errorf("%q", bad)
	}
}

// TestMayLock: limits as systemd and the kernel write them.
func TestMayLock(t *testing.T) {
	for limit, want := range map[string]bool{
		"infinity": true, "unlimited": true, "1G": true, "2048M": true, "1T:infinity": true, "1073741824": true,
		"8M": false, "64M:infinity": false, "65536": false, "1048575K": false, "": false, "much": false,
	} {
		if mayLock(limit) != want {
			t.Errorf("%q: %v", limit, !want)
		}
	}
}
