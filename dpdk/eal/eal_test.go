package eal

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// argsVar makes the test binary a process that starts EAL with these arguments
// and prints the error: a process can start EAL once.
const argsVar = "INTSINK_TEST_EAL_ARGS"

func TestMain(m *testing.M) {
	if args, ok := os.LookupEnv(argsVar); ok {
		if err := Init(strings.Fields(args)); err != nil {
			fmt.Println(err)
			return
		}
		Cleanup()
		fmt.Println("started")
		return
	}
	args, _, err := Args(Options{Hugepages: "off", MemoryMiB: 32})
	if err == nil {
		err = sameAffinity(func() error { return Init(args) })
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	Cleanup()
	os.Exit(code)
}

// sameAffinity fails where f leaves any thread with another CPU affinity: each
// thread that Go starts inherits one.
func sameAffinity(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, after unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	if err := f(); err != nil {
		return err
	}
	if err := unix.SchedGetaffinity(0, &after); err != nil {
		return err
	}
	if after != before {
		return fmt.Errorf("CPU affinity %v became %v", before, after)
	}
	return nil
}

func startIn(t *testing.T, args string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), argsVar+"="+args)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// TestFailedStartIsOneLine: what EAL says about itself, its usage text included,
// does not reach the terminal.
func TestFailedStartIsOneLine(t *testing.T) {
	const quiet = " --no-huge --no-shconf --no-telemetry --no-pci --log-level *:error"
	for args, want := range map[string]string{
		"--nonsense" + quiet:                   "unrecognized option '--nonsense'",
		"--lcores 0@1000" + quiet:              "core 1000 unavailable",
		"--in-memory" + quiet:                  "not compatible with --in-memory",
		"-m 32 --vdev net_nothing0" + quiet:    "net_nothing0",
		"-m 32 --lcores 0@0 -n 4" + quiet:      "started",
		"-m 32 --no-huge --no-shconf --no-pci": "started", // chatty
	} {
		out := startIn(t, args)
		if !strings.Contains(out, want) || strings.Count(out, "\n") != 1 {
			t.Errorf("%s:\n%swant one line with %q", args, out, want)
		}
	}
}

// TestExitIsNoSuccess: EAL exits on some arguments; the process says so and
// fails.
func TestExitIsNoSuccess(t *testing.T) {
	for _, args := range []string{"--help", "-h", "-m 32 --no-huge --no-shconf --no-pci -vh"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), argsVar+"="+args)
		out, err := cmd.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "check dpdk.eal_args") || strings.Count(string(out), "\n") != 1 {
			t.Errorf("%s: %v\n%s", args, err, out)
		}
	}
}

func TestSecondStart(t *testing.T) {
	err := Init([]string{"--no-huge"})
	if !errors.Is(err, syscall.EALREADY) || !strings.Contains(err.Error(), "once per process") {
		t.Error(err)
	}
}

func TestWorkerThread(t *testing.T) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		runtime.LockOSThread() // never unlocked: the thread ends here
		cpu := firstCPU()
		if err := errors.Join(PinThread(cpu), RegisterThread()); err != nil {
			t.Error(err)
			return
		}
		var set unix.CPUSet
		if err := unix.SchedGetaffinity(0, &set); err != nil || set.Count() != 1 || !set.IsSet(cpu) {
			t.Errorf("affinity %v, %v; want CPU %d only", set, err, cpu)
		}
		if LcoreID() < 1 { // 0 is EAL's own
			t.Errorf("lcore id %d", LcoreID())
		}
		UnregisterThread()
		if LcoreID() != -1 {
			t.Errorf("lcore id %d after UnregisterThread", LcoreID())
		}
	})
}

func TestPinToNoCPU(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for _, cpu := range []int{1023, 5000, -1} {
		if err := PinThread(cpu); !errors.Is(err, syscall.EINVAL) || !strings.Contains(err.Error(), "online and allowed") {
			t.Errorf("CPU %d: %v", cpu, err)
		}
	}
}

func TestErrno(t *testing.T) {
	if err := Errno(-int(syscall.ENOMEM)); !errors.Is(err, syscall.ENOMEM) {
		t.Error(err)
	}
	if err := Errno(1001); !strings.Contains(err.Error(), "secondary") { // E_RTE_SECONDARY
		t.Error(err)
	}
}

func TestCaptureFromManyGoroutines(t *testing.T) {
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 100 {
				if said := Capture(func() {}); said != "" {
					t.Error(said)
				}
			}
		})
	}
	wg.Wait()
}
