package dut

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Thread holds the kernel's counters of one thread.
type Thread struct {
	TID                      int
	RunNs                    uint64 // CPU time; up to a tick of the kernel old
	WaitNs                   uint64 // time that it could have run, but others had its CPU
	MinorFaults, MajorFaults uint64
	Voluntary, Involuntary   uint64 // context switches
}

// Since returns the counts from b to t.
func (t Thread) Since(b Thread) Thread {
	return Thread{
		t.TID, t.RunNs - b.RunNs, t.WaitNs - b.WaitNs, t.MinorFaults - b.MinorFaults, t.MajorFaults - b.MajorFaults,
		t.Voluntary - b.Voluntary, t.Involuntary - b.Involuntary,
	}
}

// Sum returns the counts of two intervals.
func (t Thread) Sum(o Thread) Thread {
	return Thread{
		t.TID, t.RunNs + o.RunNs, t.WaitNs + o.WaitNs, t.MinorFaults + o.MinorFaults, t.MajorFaults + o.MajorFaults,
		t.Voluntary + o.Voluntary, t.Involuntary + o.Involuntary,
	}
}

// ReadThread reads one thread of a process.
func ReadThread(pid, tid int) (Thread, error) {
	dir := fmt.Sprintf("/proc/%d/task/%d/", pid, tid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		return Thread{}, err
	}
	status, err := os.ReadFile(dir + "status")
	if err != nil {
		return Thread{}, err
	}
	schedstat, err := os.ReadFile(dir + "schedstat")
	if err != nil {
		return Thread{}, err
	}
	t := Thread{TID: tid}
	_, err = fmt.Sscan(string(schedstat), &t.RunNs, &t.WaitNs)
	return t, errors.Join(err, t.parseStat(string(stat)), t.parseStatus(string(status)))
}

// parseStat reads /proc/PID/task/TID/stat (proc(5)); the fields behind the name,
// which may contain anything, begin with the third.
func (t *Thread) parseStat(s string) error {
	fields := strings.Fields(s[strings.LastIndexByte(s, ')')+1:])
	if len(fields) < 13 {
		return fmt.Errorf("/proc stat: %q", s)
	}
	var err error
	number := func(field int) uint64 {
		n, e := strconv.ParseUint(fields[field-3], 10, 64)
		err = errors.Join(err, e)
		return n
	}
	t.MinorFaults, t.MajorFaults = number(10), number(12)
	return err
}

func (t *Thread) parseStatus(s string) error {
	for line := range strings.Lines(s) {
		name, value, _ := strings.Cut(line, ":")
		field := map[string]*uint64{"voluntary_ctxt_switches": &t.Voluntary, "nonvoluntary_ctxt_switches": &t.Involuntary}[name]
		if field == nil {
			continue
		}
		n, err := strconv.ParseUint(strings.TrimSpace(value), 10, 64)
		if err != nil {
			return fmt.Errorf("/proc status: %q", line)
		}
		*field = n
	}
	return nil
}

// Worker returns the worker thread of a process on a CPU: among the threads that may run only
// there, the one that used most time.
func Worker(pid, cpu int) (Thread, error) {
	dirs, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
	if err != nil {
		return Thread{}, err
	}
	var pinned []Thread
	for _, d := range dirs {
		status, err := os.ReadFile(d + "/status")
		if err != nil || !strings.Contains(string(status), fmt.Sprintf("\nCpus_allowed_list:\t%d\n", cpu)) {
			continue
		}
		tid, _ := strconv.Atoi(filepath.Base(d))
		if t, err := ReadThread(pid, tid); err == nil {
			pinned = append(pinned, t)
		}
	}
	if len(pinned) == 0 {
		return Thread{}, fmt.Errorf("process %d has no thread pinned to CPU %d", pid, cpu)
	}
	return slices.MaxFunc(pinned, func(a, b Thread) int { return cmp.Compare(a.RunNs, b.RunNs) }), nil
}
