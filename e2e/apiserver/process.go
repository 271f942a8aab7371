package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"
)

// startLimit is how long a process may take until it answers.
const startLimit = 3 * time.Minute

// process is a child that can be restarted, always with the same arguments.
type process struct {
	name      string
	arguments []string
	dir       string
	ready     func() error
	command   *exec.Cmd
	ended     chan struct{}
}

func (p *process) pid() int {
	if p.command == nil {
		return 0
	}
	return p.command.Process.Pid
}

// start starts it and waits until it answers.
func (p *process) start() error {
	if p.command != nil {
		return fmt.Errorf("%s runs already; kill it first", p.name)
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(p.dir, p.name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(self, append([]string{p.name}, p.arguments...)...)
	command.Stdout, command.Stderr = log, log
	// It never outlives us.
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait()
		close(ended)
	}()
	p.command, p.ended = command, ended

	limit := time.After(startLimit)
	for {
		err := p.ready()
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			p.command = nil
			return fmt.Errorf("%s ended before it was ready; see %s", p.name, log.Name())
		case <-limit:
			return fmt.Errorf("%s is not ready: %w; see %s", p.name, err, log.Name())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// signal sends a signal that does not end it.
func (p *process) signal(signal syscall.Signal) error {
	if p.command == nil {
		return fmt.Errorf("%s does not run", p.name)
	}
	return p.command.Process.Signal(signal)
}

// end ends it with a signal, and waits until it is gone.
func (p *process) end(signal syscall.Signal) error {
	if err := p.signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-p.ended
	p.command = nil
	return nil
}

// freePorts finds free ports.
func freePorts(count int) ([]int, error) {
	var ports []int
	for range count {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		// All are closed at the end, so that no port comes twice.
		defer listener.Close()
		ports = append(ports, listener.Addr().(*net.TCPAddr).Port)
	}
	return ports, nil
}
