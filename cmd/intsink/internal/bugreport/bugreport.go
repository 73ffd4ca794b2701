// The parts of a bug report by name, and how each of them is made.

package bugreport

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"time"

	"intsink/cmd/internal/cli"
	"intsink/cmd/intsink/internal/client"
	"intsink/cmd/intsink/internal/doctor"
	"intsink/conf"
)

// Options are the flags of the command.
type Options struct {
	Client  client.Options
	Out     string // the archive's file; "": named by the time, "-": standard output
	Version string
}

// part is one file of the archive. If make fails, its error is the content: many reports are
// about a sink that does not answer.
type part struct {
	name string
	make func(ctx context.Context) ([]byte, error)
}

// Run writes the archive and prints where it is.
func Run(ctx context.Context, stdout io.Writer, o *Options, now time.Time) error {
	name := "intsink-report-" + now.UTC().Format("20060102-150405")
	out := o.Out
	if out == "" {
		out = name + ".tar.gz"
	}
	parts, err := o.parts()
	if err != nil {
		return err
	}
	if out == "-" {
		_, err := write(ctx, stdout, name, parts, now)
		return err
	}
	f, err := os.OpenFile(out, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return cli.Failed(fmt.Errorf("%w; name another file with --out", err))
	}
	missing, err := write(ctx, f, name, parts, now)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		os.Remove(out)
		return cli.Failed(fmt.Errorf("%s: %w", out, err))
	}
	said := cli.Printable(stdout)
	fmt.Fprintf(said, "%s: look through it before you send it: it names interfaces, addresses of collectors and what the log says\n", out)
	for _, m := range missing {
		fmt.Fprintf(said, "missing: %s\n", m)
	}
	return nil
}

// parts returns the parts of an archive. The only errors are wrong flags.
func (o *Options) parts() ([]part, error) {
	sink, err := o.Client.Open()
	if err != nil && o.Client.Config == "" {
		return nil, err
	}
	ask := func(path string) func(context.Context) ([]byte, error) {
		return func(ctx context.Context) ([]byte, error) {
			switch {
			case sink == nil:
				return nil, err
			case strings.HasPrefix(path, "/readyz"): // 503 is an answer, too
				body, _, err := sink.Answer(ctx, http.MethodGet, path, nil)
				return body, err
			}
			return sink.Ask(ctx, http.MethodGet, path, nil)
		}
	}
	all := []part{
		{"version.txt", func(context.Context) ([]byte, error) { return []byte(o.Version), nil }},
		{"machine.txt", func(context.Context) ([]byte, error) { return machine("/"), nil }},
		{"running-config.hcl", ask("/api/v1/config")},
		{"status.json", ask("/api/v1/status")},
		{"readyz.txt", ask("/readyz?verbose")},
		{"metrics.txt", ask("/metrics")},
		{"log.txt", journal},
	}
	if o.Client.Config != "" {
		all = append(all, part{"config.hcl", o.config}, part{"doctor.txt", o.doctor})
	}
	return all, nil
}

// config returns the configuration as it was read, without secrets, below its diagnostics. A file
// that is not valid may have secrets anywhere: of it only the diagnostics are returned, without
// the lines that they show.
func (o *Options) config(context.Context) ([]byte, error) {
	c, diags := conf.LoadElsewhere(o.Client.Config)
	var wrong, b bytes.Buffer
	diags.WithoutLines().WriteTo(&wrong)
	for line := range bytes.Lines(wrong.Bytes()) {
		b.WriteString("# " + string(line))
	}
	if c == nil {
		return nil, fmt.Errorf("%s is not valid:\n%s", o.Client.Config, b.Bytes())
	}
	b.Write(c.DumpWithoutSecrets())
	return b.Bytes(), nil
}

// doctor returns the output of the command doctor.
func (o *Options) doctor(context.Context) ([]byte, error) {
	c, _ := conf.LoadElsewhere(o.Client.Config)
	if c == nil {
		return nil, fmt.Errorf("the configuration is not valid: config.hcl says why")
	}
	var b bytes.Buffer
	if err := doctor.Run(&b, doctor.ThisMachine(), c, false); err != nil {
		fmt.Fprintln(&b, err)
	}
	return b.Bytes(), nil
}

// journal returns the end of the service's log, if systemd keeps one.
func journal(ctx context.Context) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, "journalctl", "--no-pager", "--output=short-iso-precise", "--lines=5000", "--unit=intsink").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("journalctl: %w: %s", err, bytes.TrimSpace(out))
	}
	return out, nil
}
