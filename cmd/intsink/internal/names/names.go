// Book: what people call nodes, interfaces and hosts; as GET /api/v1/names has it.

// Package names gives what block names says to those who show things to people: API, page, terminal, problems, log.
// No packet needs a name.
package names

import (
	"fmt"
	"net/http"
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"intsink/cmd/internal/problem"
	"intsink/cmd/intsink/internal/control"
	"intsink/conf"
	"intsink/engine/aside/inspect"
)

// Book has the names of a configuration. A nil Book has none: numbers stand in their place.
type Book struct {
	Nodes map[uint32]Node       `json:"nodes"`
	Hosts map[netip.Addr]string `json:"hosts"`
}

// Node is the name of a node, and those of its interfaces.
type Node struct {
	Name       string            `json:"name"`
	Interfaces map[uint32]string `json:"interfaces"`
}

// Of returns the names of a configuration.
func Of(c *conf.Names) *Book {
	b := &Book{Nodes: map[uint32]Node{}, Hosts: c.HostNames}
	if b.Hosts == nil {
		b.Hosts = map[netip.Addr]string{}
	}
	for _, n := range c.All() {
		x := Node{n.Name, map[uint32]string{}}
		for _, i := range n.Interfaces {
			x.Interfaces[i.Number] = i.Text
		}
		b.Nodes[n.ID] = x
	}
	return b
}

// Node is the name of a node, or its number.
func (b *Book) Node(id uint32) string {
	if b != nil && b.Nodes[id].Name != "" {
		return b.Nodes[id].Name
	}
	return fmt.Sprint(id)
}

// Interface is the name of an interface of a node, or its number; "-" where that is not known.
func (b *Book) Interface(node uint32, id *uint16) string {
	if id == nil {
		return "-"
	}
	if b != nil {
		if name := b.Nodes[node].Interfaces[uint32(*id)]; name != "" {
			return name
		}
	}
	return fmt.Sprint(*id)
}

// Way is nodes one after the other.
func (b *Book) Way(ids []uint32) string {
	all := make([]string, len(ids))
	for i, id := range ids {
		all[i] = b.Node(id)
	}
	return strings.Join(all, " > ")
}

// Host is the name of a host, or its address.
func (b *Book) Host(a netip.Addr) string {
	if b != nil && b.Hosts[a] != "" {
		return b.Hosts[a]
	}
	return a.String()
}

// Flow names the two hosts of a flow, sender first. It returns "" where neither has a name, and where id is not a flow's id.
func (b *Book) Flow(id string) string {
	key, err := inspect.ParseFlowID(id)
	if err != nil || b == nil {
		return ""
	}
	from, to := key.SrcAddr(), key.DstAddr()
	if b.Hosts[from] == "" && b.Hosts[to] == "" {
		return ""
	}
	return b.Host(from) + " > " + b.Host(to)
}

// Place puts names to the parts of a place, or takes them away where the Book is nil.
func (b *Book) Place(place []problem.Part) {
	node, known := uint32(0), false
	for i := range place {
		p := &place[i]
		p.Name = ""
		n, err := strconv.ParseUint(p.ID, 10, 32)
		if err != nil || b == nil {
			continue
		}
		id := uint32(n)
		switch p.What {
		case "node", "from", "to":
			p.Name, node, known = b.Nodes[id].Name, id, true
		case "ingress", "egress":
			if known {
				p.Name = b.Nodes[node].Interfaces[id]
			}
		}
	}
}

// Steps is a way that stands as numbers with " > " between them.
func (b *Book) Steps(way string) string {
	steps := strings.Split(way, " > ")
	for i, s := range steps {
		if id, err := strconv.ParseUint(s, 10, 32); err == nil {
			steps[i] = b.Node(uint32(id))
		}
	}
	return strings.Join(steps, " > ")
}

var (
	places  = regexp.MustCompile(`\bnode [0-9]+|\bfrom [0-9]+ to [0-9]+`)
	numbers = regexp.MustCompile(`[0-9]+`)
)

// Text puts names to the nodes of a sentence: "node 202", "from 101 to 202".
func (b *Book) Text(s string) string {
	return places.ReplaceAllStringFunc(s, func(place string) string {
		return numbers.ReplaceAllStringFunc(place, func(n string) string {
			id, err := strconv.ParseUint(n, 10, 32)
			if err != nil {
				return n
			}
			return b.Node(uint32(id))
		})
	})
}

// Flag adds the flag that wants numbers.
func Flag(cmd *cobra.Command, numeric *bool) {
	cmd.Flags().BoolVarP(numeric, "numeric", "n", false, "numbers and addresses, not the names of the sink's configuration")
}

// Server answers GET /api/v1/names: those of the configuration that is in force.
type Server struct{ Config func() *conf.Config }

// Place puts names to the parts of a place.
func (s *Server) Place(place []problem.Part) { Of(&s.Config().Names).Place(place) }

// RegisterShared adds the routes.
func (s *Server) RegisterShared(mux control.Mux) {
	mux.HandleFunc("GET /api/v1/names", func(w http.ResponseWriter, _ *http.Request) { control.Answer(w, http.StatusOK, Of(&s.Config().Names)) })
	mux.HandleFunc("/api/v1/names", control.Only("GET", "GET, HEAD"))
}

// Paths are what can be read.
func (s *Server) Paths() []string { return []string{"/api/v1/names"} }
