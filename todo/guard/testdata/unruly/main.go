// Unruly does what a program can do to outlive those who started it. Its first
// argument says what; those that stay add their process ids to the file that the
// second one names.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

func main() {
	args := os.Args[1:]
	switch args[0] {
	case "exit": // with this code, at once
		code, err := strconv.Atoi(args[1])
		if err != nil {
			panic(err)
		}
		os.Exit(code)
	case "env":
		fmt.Println(strings.Join(os.Environ(), "\n"))
	case "dir":
		dir, err := os.Getwd()
		fmt.Println(dir, err)
	case "wait": // as a good program does: until SIGTERM
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		ready(args[1])
		<-c
		fmt.Println("told to end")
	case "plain": // knows of no signals
		ready(args[1])
		forever()
	case "stubborn": // deaf to every signal that can be ignored
		signal.Ignore()
		ready(args[1])
		forever()
	case "flood":
		ready(args[1])
		line := []byte(strings.Repeat("flood ", 1000) + "\n")
		for {
			if _, err := os.Stdout.Write(line); err != nil {
				forever()
			}
		}
	case "setsid": // a stubborn grandchild in a session of its own; the parent waits
		detach(args[1])
		forever()
	case "daemon": // the same by a double fork, and the parent is gone
		detach(args[1])
	case "between": // the child of a double fork, which forks again
		start(&syscall.SysProcAttr{Setsid: true}, "stubborn", args[1])
	case "family": // many at once, each with children of its own
		depth, err := strconv.Atoi(args[2])
		if err != nil {
			panic(err)
		}
		signal.Ignore()
		if depth > 0 {
			for i := range 3 {
				start(&syscall.SysProcAttr{Setsid: i == 1}, "family", args[1], strconv.Itoa(depth-1))
			}
		}
		ready(args[1])
		forever()
	default:
		panic(args[0])
	}
}

func forever() { <-time.After(time.Hour) }

func detach(file string) {
	start(&syscall.SysProcAttr{Setsid: true}, "between", file)
}

func start(attributes *syscall.SysProcAttr, args ...string) {
	c := exec.Command(os.Args[0], args...)
	c.SysProcAttr = attributes
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		panic(err)
	}
}

// ready adds this process to the file of those that run.
func ready(file string) {
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%d\n", os.Getpid()); err != nil {
		panic(err)
	}
}
