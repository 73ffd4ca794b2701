// Programs: which one another process runs, as far as root may believe it, and what a program says of itself.

package trusted

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Peer is the process at the other end of a connection over a unix socket, as the kernel tells: who has begun to listen there.
func Peer(c net.Conn) (pid, uid int, err error) {
	u, ok := c.(syscall.Conn)
	if !ok {
		return 0, 0, errors.New("not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Ucred
	if e := raw.Control(func(fd uintptr) { cred, err = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); e != nil {
		return 0, 0, e
	}
	if err != nil {
		return 0, 0, err
	}
	return int(cred.Pid), int(cred.Uid), nil
}

// MayAnswer returns an error unless the user uid may listen on the socket at path as far as root, and this process's user, are
// concerned: he is one of them, or the first folder on the way that is not theirs is his, or the socket in a folder of theirs is.
func MayAnswer(path string, uid int) error {
	if uid == 0 || uid == os.Geteuid() {
		return nil
	}
	other := fmt.Errorf("a process of uid %d answers there, who has not been given that place", uid)
	dir, err := filepath.Abs(filepath.Dir(path))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return err
	}
	var c *ChangeableError
	folder, err := Open(dir)
	switch {
	case errors.As(err, &c) && c.Owner == uid:
		return nil
	case errors.As(err, &c):
		return other
	case err != nil:
		return err
	}
	defer folder.Close()
	info, err := folder.root.Lstat(filepath.Base(path))
	if err != nil {
		return err
	}
	if s := info.Sys().(*syscall.Stat_t); int(s.Uid) != uid {
		return other
	}
	return nil
}

// ProgramOf finds the file that the process pid runs, under the name that it has in a folder which nobody else can change. The
// process says no more than the name: the file there has to be the one that it runs, and to be nobody else's.
func ProgramOf(pid int) (*Folder, *os.File, error) {
	exe := fmt.Sprintf("/proc/%d/exe", pid)
	path, err := os.Readlink(exe)
	if err != nil {
		return nil, nil, fmt.Errorf("which program runs is not known: %w; root may ask, in the sink's own container", err)
	}
	if strings.HasSuffix(path, " (deleted)") {
		return nil, nil, errors.New("the program that runs is no longer the one that is installed: restart the sink first, or install the one that runs again")
	}
	runs, err := os.Stat(exe)
	if err != nil {
		return nil, nil, err
	}
	folder, err := Open(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	file, err := folder.File(filepath.Base(path))
	if err == nil {
		var there os.FileInfo
		if there, err = file.Stat(); err == nil && !os.SameFile(there, runs) {
			err = fmt.Errorf("%s is not the file that the process runs, which is in another container, or was replaced", path)
			file.Close()
		}
	}
	if err != nil {
		folder.Close()
		return nil, nil, err
	}
	return folder, file, nil
}

// nobody is the user that has no rights, but to run what everybody may.
const nobody = 65534

// Ask runs a program that is open, as nobody where this process is root's, and returns what it prints, without the last line's end.
// The error has what it said last.
func Ask(program *os.File, args ...string) (string, error) {
	cmd := exec.Command("/proc/self/fd/3", args...) // of the new process: no name is looked up again
	cmd.Args[0] = program.Name()
	cmd.ExtraFiles = []*os.File{program}
	cmd.Dir = "/"
	cmd.Env = []string{"LC_ALL=C", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // it has no terminal
	if os.Geteuid() == 0 {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	return Output(cmd)
}

// Output returns what a command prints, without space around it; with an error, what it said last of why.
func Output(cmd *exec.Cmd) (string, error) {
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	err := cmd.Run()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		err = fmt.Errorf("%s: %w: %.300s", filepath.Base(cmd.Args[0]), err, lines[len(lines)-1])
	}
	return strings.TrimSpace(out.String()), err
}
