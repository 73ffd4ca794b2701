package appliance

import (
	"log/slog"
	"os"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/logging"
	"intsink/cmd/intsink/internal/rules"
	"intsink/conf"
)

// Reload adopts the configuration at path, or keeps old and says why.
func (a *Appliance) Reload(old *conf.Config, path string) *conf.Config {
	c, err := cli.LoadConfigAgain(path, old)
	if err != nil {
		slog.Error("reload refused, the old configuration stays", "err", err)
		return old
	}
	if what := rules.NeedsRestart(old, c); what != "" {
		slog.Error("reload refused, the old configuration stays: this change needs a restart", "blocks", what)
		return old
	}
	next := rules.Of(c)
	for _, w := range a.workers {
		w.Reload(next)
	}
	slog.SetDefault(slog.New(logging.New(c.Log, os.Stderr)))
	a.config.Store(c)
	slog.Info("reloaded", "watches", len(c.Watches))
	return c
}
