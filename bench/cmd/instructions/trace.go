//go:build linux && amd64

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"

	"intsink/dpdk/mbuf"
)

// tracee is the child, stopped or stepped by this thread.
type tracee struct {
	pid     int
	threads map[int]bool // all but exited ones
	marker  uint64       // address behind the int3
}

// trace counts one row in a child process.
func trace(name string, bursts int) (*profile, error) {
	runtime.LockOSThread() // ptrace requests are taken from the thread that attached
	defer runtime.UnlockOSThread()
	if err := oneCPU(); err != nil {
		return nil, err
	}
	cmd := exec.Command("/proc/self/exe", "-child", name)
	// Nothing but the worker runs: no collector, no signals that preempt.
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1", "GOGC=off", "GODEBUG=asyncpreemptoff=1")
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Ptrace: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	t := &tracee{pid: cmd.Process.Pid, threads: map[int]bool{cmd.Process.Pid: true}}
	defer t.end()
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(t.pid, &status, 0, nil); err != nil || !status.Stopped() {
		return nil, fmt.Errorf("the child does not stop at its start: %v, %#x", err, status)
	}
	const exitKill = 0x100000 // PTRACE_O_EXITKILL
	if err := syscall.PtraceSetOptions(t.pid, syscall.PTRACE_O_TRACECLONE|exitKill); err != nil {
		return nil, err
	}
	if err := syscall.PtraceCont(t.pid, 0); err != nil {
		return nil, err
	}
	return t.count(bursts)
}

// oneCPU keeps this thread, and the child that it starts, on the CPU that it runs
// on: a step then costs two switches there, instead of waking another CPU.
func oneCPU() error {
	var cpu uint32
	if _, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return errno
	}
	var set unix.CPUSet
	set.Set(int(cpu))
	return unix.SchedSetaffinity(0, &set)
}

// end kills the child and reaps its threads: the kernel traces each of them.
func (t *tracee) end() {
	syscall.Kill(t.pid, syscall.SIGKILL)
	for {
		if _, err := syscall.Wait4(-1, nil, syscall.WALL, nil); err != nil && err != syscall.EINTR {
			return
		}
	}
}

// count finds the thread that runs into the first marker, stops all others, and
// steps that one through the counted bursts.
func (t *tracee) count(bursts int) (*profile, error) {
	tid, err := t.firstMarker()
	if err != nil {
		return nil, err
	}
	if err := t.freeze(tid); err != nil {
		return nil, err
	}
	p := &profile{at: map[uint64]uint64{}, packets: bursts * mbuf.MaxBurst}
	for range bursts {
		if err := t.toMarker(tid); err != nil {
			return nil, err
		}
		if err := t.step(tid, p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

var errEnded = errors.New("the child ended early")

// firstMarker lets all threads run until one of them meets an int3.
func (t *tracee) firstMarker() (tid int, err error) {
	for {
		var status syscall.WaitStatus
		tid, err := syscall.Wait4(-1, &status, syscall.WALL, nil)
		if err != nil {
			return 0, err
		}
		if !status.Stopped() {
			if delete(t.threads, tid); tid == t.pid {
				return 0, errEnded
			}
			continue
		}
		t.threads[tid] = true
		signal := int(status.StopSignal())
		switch {
		case status.StopSignal() == syscall.SIGTRAP && status.TrapCause() == 0:
			t.marker, err = rip(tid)
			return tid, err
		case status.StopSignal() == syscall.SIGTRAP || status.StopSignal() == syscall.SIGSTOP:
			signal = 0 // a thread was started, or starts
		}
		if err := syscall.PtraceCont(tid, signal); err != nil {
			return 0, err
		}
	}
}

// freeze stops all threads but tid, for good. That of the Go runtime's monitor
// would ask the worker to yield.
func (t *tracee) freeze(tid int) error {
	for other := range t.threads {
		if other == tid {
			continue
		}
		if err := syscall.Tgkill(t.pid, other, syscall.SIGSTOP); err != nil {
			return err
		}
		var status syscall.WaitStatus
		if _, err := syscall.Wait4(other, &status, syscall.WALL, nil); err != nil {
			return err
		}
	}
	return nil
}

// toMarker runs tid to the next marker at full speed.
func (t *tracee) toMarker(tid int) error {
	if err := syscall.PtraceCont(tid, 0); err != nil {
		return err
	}
	at, err := t.wait(tid)
	if err == nil && at != t.marker {
		err = fmt.Errorf("the child stops at %#x, want the marker at %#x", at, t.marker)
	}
	return err
}

// step executes one instruction after the other, up to the next marker.
func (t *tracee) step(tid int, p *profile) error {
	for last := uint64(0); ; {
		if err := syscall.PtraceSingleStep(tid); err != nil {
			return err
		}
		at, err := t.wait(tid)
		if err != nil {
			return err
		}
		if at == t.marker {
			return nil
		}
		if at != last { // a repeated string instruction stops at each repetition
			p.at[at]++
		}
		last = at
	}
}

// wait returns where tid stopped by SIGTRAP.
func (t *tracee) wait(tid int) (uint64, error) {
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(tid, &status, syscall.WALL, nil); err != nil {
		return 0, err
	}
	if !status.Stopped() {
		return 0, errEnded
	}
	if status.StopSignal() != syscall.SIGTRAP {
		return 0, fmt.Errorf("the child stops by %v", status.StopSignal())
	}
	return rip(tid)
}

func rip(tid int) (uint64, error) {
	var regs syscall.PtraceRegs
	err := syscall.PtraceGetRegs(tid, &regs)
	return regs.Rip, err
}
