package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/controllings/controllings/runner/internal/hint"
)

// docker is the docker command: the library behind kind uses it too, so there is
// one thing to install and one way in which it can fail.
type docker struct{}

// engine is what is asked about Docker before anything is made.
type engine struct {
	Memory int64 // bytes
}

// node is a container of a kind cluster.
type node struct {
	Names  string // one, "controllings-control-plane"
	State  string // "running", "exited", …
	Status string // for a person: "Exited (137) 2 minutes ago"
}

func (n node) running() bool { return n.State == "running" }

// info says whether Docker can be used at all.
func (d docker) info(ctx context.Context) (engine, error) {
	var e engine
	if _, err := exec.LookPath("docker"); err != nil {
		return e, hint.New("install Docker (https://docs.docker.com/engine/install/), or use the cluster that needs none: CLUSTER=embedded",
			"CLUSTER=kind needs Docker, and there is no docker on PATH")
	}
	// A client that waits for a daemon which is starting up, or gone, can wait long.
	within, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	out, err := d.run(within, "info", "--format", "{{json .}}")
	if err != nil {
		if ctx.Err() == nil && within.Err() != nil {
			err = errors.New("docker info has not answered in 20 seconds")
		}
		return e, explainKind("ask Docker", err)
	}
	var answer struct {
		MemTotal     int64
		ServerErrors []string
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		return e, fmt.Errorf("ask Docker: %w", err)
	}
	if len(answer.ServerErrors) > 0 { // the client says so with exit code 0
		return e, explainKind("ask Docker", errors.New(strings.Join(answer.ServerErrors, "; ")))
	}
	e.Memory = answer.MemTotal
	return e, nil
}

// nodes lists the containers of a kind cluster, running or not.
func (d docker) nodes(ctx context.Context, name string) ([]node, error) {
	out, err := d.run(ctx, "ps", "--all", "--filter", "label=io.x-k8s.kind.cluster="+name, "--format", "{{json .}}")
	if err != nil {
		return nil, explainKind("list the cluster's containers", err)
	}
	var nodes []node
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var n node
		err := dec.Decode(&n)
		if errors.Is(err, io.EOF) {
			return nodes, nil
		}
		if err != nil {
			return nil, fmt.Errorf("list the cluster's containers: %w", err)
		}
		nodes = append(nodes, n)
	}
}

func (d docker) start(ctx context.Context, names ...string) error {
	_, err := d.run(ctx, append([]string{"start"}, names...)...)
	return err
}

// image is what is asked of an image; nil is one that isn't there.
type image struct {
	Config struct{ Labels map[string]string }
}

func (d docker) image(ctx context.Context, name string) (*image, error) {
	out, err := d.run(ctx, "image", "inspect", name)
	if err != nil {
		if strings.Contains(strings.ToLower(err.Error()), "no such image") {
			return nil, nil
		}
		return nil, explainKind(fmt.Sprintf("look for image %s", name), err)
	}
	var found []image
	if err := json.Unmarshal(out, &found); err != nil || len(found) == 0 {
		return nil, fmt.Errorf("look for image %s: docker says %q", name, out)
	}
	return &found[0], nil
}

// pull gets an image; Docker's progress goes to w.
func (d docker) pull(ctx context.Context, name string, w io.Writer) error {
	cmd := d.command(ctx, "pull", name)
	said := &tail{}
	cmd.Stdout, cmd.Stderr = w, said
	if err := cmd.Run(); err != nil {
		return said.with(ctx, err)
	}
	return nil
}

func (d docker) run(ctx context.Context, args ...string) ([]byte, error) {
	cmd := d.command(ctx, args...)
	var out bytes.Buffer
	said := &tail{}
	cmd.Stdout, cmd.Stderr = &out, said
	if err := cmd.Run(); err != nil {
		return nil, said.with(ctx, err)
	}
	return out.Bytes(), nil
}

// command is docker in a process group of its own: a terminal's Ctrl-C is for
// lab, which ends what has to end.
func (docker) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}

// tail keeps the end of what a command says when it fails.
type tail struct{ text []byte }

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if over := len(t.text) - 4096; over > 0 {
		t.text = t.text[over:]
	}
	return len(p), nil
}

// with is the error of a command that said this.
func (t *tail) with(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return err
	}
	return errors.New(text)
}

func joined(names []string) string { return strings.Join(names, ", ") }
