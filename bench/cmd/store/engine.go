// An engine: one ClickHouse in a process of its own, and its CPU time.

package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// engine is a ClickHouse that make deps-engines installed.
type engine struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

const programs = "deploy/collect/testdata" // those that run queries

// start starts a version with its data in a folder.
func start(engines, version, data string) (*engine, error) {
	engines, err := filepath.Abs(engines)
	if err != nil {
		return nil, err
	}
	e := &engine{cmd: exec.Command("/usr/bin/python3", programs+"/chdb.py", data)}
	e.cmd.Env = append(os.Environ(), "CLICKHOUSE="+filepath.Join(engines, "clickhouse-"+version))
	if version == "26.7" {
		e.cmd = exec.Command("node", programs+"/chdb.js", data)
		e.cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(engines, "chdb", "node_modules"))
	}
	e.cmd.Stderr = os.Stderr
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	e.out = bufio.NewReaderSize(out, 1<<20)
	return e, e.cmd.Start()
}

func (e *engine) stop() {
	e.in.Close()
	e.cmd.Wait()
}

// query returns the answer's rows, a JSON object a line.
func (e *engine) query(sql string) (string, error) {
	b, err := json.Marshal(map[string]string{"sql": sql})
	if err != nil {
		return "", err
	}
	if _, err := e.in.Write(append(b, '\n')); err != nil {
		return "", err
	}
	line, err := e.out.ReadBytes('\n')
	if err != nil {
		return "", fmt.Errorf("ClickHouse ended: %w", err)
	}
	var answer struct{ Text, Error string }
	if err := json.Unmarshal(line, &answer); err != nil {
		return "", err
	}
	if answer.Error != "" {
		return "", fmt.Errorf("%s\n%s", answer.Error, sql)
	}
	return answer.Text, nil
}

var comments = regexp.MustCompile(`(?m)--.*$`)

// file runs the statements of a text.
func (e *engine) file(text string) error {
	for _, sql := range strings.Split(comments.ReplaceAllString(text, ""), ";") {
		if sql = strings.TrimSpace(sql); sql != "" {
			if _, err := e.query(sql); err != nil {
				return err
			}
		}
	}
	return nil
}

// number returns the one value of an answer, called n.
func (e *engine) number(sql string) (float64, error) {
	text, err := e.query(sql)
	if err != nil {
		return 0, err
	}
	var row struct{ N float64 }
	return row.N, json.Unmarshal([]byte(text), &row)
}

// cpu is the time that the process took so far, the kernel's included.
func (e *engine) cpu() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", e.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 13 {
		return 0, errors.New("no CPU time in /proc/PID/stat")
	}
	ticks := 0
	for _, f := range fields[11:13] { // utime, stime
		n, err := strconv.Atoi(f)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil
}
