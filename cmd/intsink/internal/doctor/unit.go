// doctor on the service: what its unit lets it do, and who may open the files of VFIO.

package doctor

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"intsink/conf"
	"intsink/dpdk/vfio"
)

// unit is the service's unit with its drop-ins: the values of each key, in their order.
type unit map[string][]string

// unitOf reads intsink.service as systemd finds it; nil: there is none.
func unitOf(h *host) unit {
	dirs := []string{"etc/systemd/system", "run/systemd/system", "usr/local/lib/systemd/system", "usr/lib/systemd/system", "lib/systemd/system"}
	var files []string
	for _, dir := range dirs {
		if path := h.path(dir, "intsink.service"); h.exists(dir, "intsink.service") {
			files = append(files, path)
			break
		}
	}
	if files == nil {
		return nil
	}
	dropIns := map[string]string{} // by name: that of the first folder counts
	for _, dir := range slices.Backward(dirs) {
		more, _ := filepath.Glob(h.path(dir, "intsink.service.d/*.conf"))
		for _, path := range more {
			dropIns[filepath.Base(path)] = path
		}
	}
	for _, name := range slices.Sorted(maps.Keys(dropIns)) {
		files = append(files, dropIns[name])
	}
	u := unit{}
	for _, path := range files {
		text, _ := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			key, value, found := strings.Cut(strings.TrimSpace(line), "=")
			key, value = strings.TrimSpace(key), strings.TrimSpace(value)
			switch {
			case !found || strings.HasPrefix(key, "#") || strings.HasPrefix(key, ";"):
			case value == "":
				delete(u, key)
			default:
				u[key] = append(u[key], value)
			}
		}
	}
	return u
}

// last is the value of a key that has one.
func (u unit) last(key string) string {
	if v := u[key]; len(v) > 0 {
		return v[len(v)-1]
	}
	return ""
}

// allows tells whether the device policy of the unit lets the service have a file.
func (u unit) allows(path string) bool {
	if p := u.last("DevicePolicy"); p != "closed" && p != "strict" && len(u["DeviceAllow"]) == 0 {
		return true
	}
	kind := "char-vfio"
	if path == "/dev/vfio/vfio" {
		kind = "char-misc"
	}
	return slices.ContainsFunc(u["DeviceAllow"], func(v string) bool {
		f := strings.Fields(v)
		if len(f) > 1 && !strings.Contains(f[1], "rw") {
			return false
		}
		matches, _ := filepath.Match(f[0], kind)
		return f[0] == path || matches
	})
}

// dropIn is the command that adds lines to the unit, after all others.
func dropIn(name, lines string) string {
	return `mkdir -p /etc/systemd/system/intsink.service.d && printf '[Service]\n` + lines + `\n' > /etc/systemd/system/intsink.service.d/zz-` + name + `.conf && systemctl daemon-reload`
}

// vfioFiles looks at whether the service may open what NICs on vfio-pci need: the container and the group
// of each.
func vfioFiles(h *host, c *conf.Config) (all []Finding) {
	u := unitOf(h)
	if u == nil {
		return nil
	}
	name := u.last("User")
	if name == "" {
		name = "root"
	}
	user, found := vfio.FindUser(h.root, name, u.last("Group"))
	if name == "root" {
		user, found = &vfio.User{Name: "root"}, true
	}
	if !found {
		return []Finding{fault("systemd-sysusers", "the service runs as user %s, who does not exist", name)}
	}
	seen := map[string]bool{}
	for i := range c.Ports {
		p := &c.Ports[i]
		address := pciAddress(p)
		if !p.IsPCI() || vfio.Driver(h.root, address) != "vfio-pci" {
			continue
		}
		for _, n := range vfio.Nodes(h.root, address) {
			if !seen[n.Path] {
				seen[n.Path] = true
				all = append(all, vfioFile(h, u, user, p.Name, &n))
			}
		}
	}
	return all
}

// vfioFile looks at one of the files.
func vfioFile(h *host, u unit, user *vfio.User, port string, n *vfio.Node) Finding {
	text := n.Text(h.root)
	switch {
	case n.Missing:
		return fault("modprobe vfio-pci", "port %q: %s is not there", port, n.Path)
	case !u.allows(n.Path):
		return fault(dropIn("vfio", `DeviceAllow=/dev/vfio/vfio rw\nDeviceAllow=char-vfio rw`), "port %q: the unit does not let the service open %s: it lacks DeviceAllow", port, n.Path)
	case n.MayOpen(user):
		return ok("port %q: user %s may open %s", port, user.Name, text)
	}
	if n.Path == "/dev/vfio/vfio" {
		return fault("chmod 666 /dev/vfio/vfio    # as udev does by itself", "port %q: user %s may not open %s", port, user.Name, text)
	}
	rule := vfio.RuleFile(h.root)
	if rule == "" {
		return fault(byHand("install deploy/package/udev.rules as /etc/udev/rules.d/60-intsink.rules, then: "+vfio.Apply("/etc/udev/rules.d/60-intsink.rules")),
			"port %q: user %s may not open %s, and no udev rule gives it", port, user.Name, text)
	}
	return fault(vfio.Apply(rule), "port %q: user %s may not open %s, which the rule %s is to give to the group intsink", port, user.Name, text, rule)
}

// replaced finds a sink whose program was replaced while it runs: an upgrade does not restart it.
func replaced(h *host, _ *conf.Config) []Finding {
	for _, pid := range h.processes("intsink") {
		if strings.HasSuffix(h.link("proc", pid, "exe"), " (deleted)") {
			return []Finding{slow(byHand("systemctl restart intsink: no packets for about a second"), "the sink that runs (pid %s) is older than the program that is installed", pid)}
		}
	}
	return nil
}
