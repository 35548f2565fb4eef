package doctor

import (
	"context"
	"errors"
	"fmt"
	"go/version"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

const installGo = "install a newer Go from https://go.dev/dl/ and put its bin folder first on PATH"

// goVersion compares the go command with what go.work asks for.
func goVersion(ctx context.Context, o Options) Finding {
	want, err := wantedGo(o.Root)
	if err != nil {
		return failed("take a whole checkout of the course: git status shows what is missing", "%v", err)
	}
	if _, err := exec.LookPath("go"); err != nil {
		return failed(installGo, "the go command is not on PATH; %s is needed", want)
	}
	// GOTOOLCHAIN=local keeps it from fetching another one to answer.
	have, err := command(ctx, o.Root, []string{"GOTOOLCHAIN=local", "GOWORK=off", "GOFLAGS="}, "go", "env", "GOVERSION")
	if err != nil {
		return failed("see what it says: go version", "the go command does not run: %s", firstLine(err.Error()))
	}
	if version.Compare(word(have), want) >= 0 {
		return ok("%s; the course needs %s", have, want)
	}
	// An older one can fetch the one that go.work names.
	fetched, err := command(ctx, o.Root, []string{"GOFLAGS=", "GOWORK="}, "go", "env", "GOVERSION")
	if err == nil && version.Compare(word(fetched), want) >= 0 {
		return ok("%s, which has fetched %s by itself; the course needs %s", have, fetched, want)
	}
	mend := installGo
	if choice, _ := command(ctx, os.TempDir(), []string{"GOWORK=off"}, "go", "env", "GOTOOLCHAIN"); choice == "local" {
		mend += ", or let go fetch it: go env -w GOTOOLCHAIN=auto"
	}
	return failed(mend, "%s is too old: the course needs %s", have, want)
}

// wantedGo is the version of go.work, as "go1.26.0".
func wantedGo(root string) (string, error) {
	data, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		return "", err
	}
	for _, line := range strings.Split(string(data), "\n") {
		if f := strings.Fields(line); len(f) == 2 && f[0] == "go" {
			return "go" + f[1], nil
		}
	}
	return "", errors.New("go.work names no version of Go")
}

// word is a version without what follows it ("go1.26.0 X:nodwarf5").
func word(v string) string {
	v, _, _ = strings.Cut(v, " ")
	return v
}

// goSettings looks for settings of the go command that lead a build astray. lab
// takes most of them away for its own builds; make, an editor and go test don't.
func goSettings(ctx context.Context, o Options) Finding {
	get := func(name string) (string, error) {
		return command(ctx, o.Root, []string{"GOTOOLCHAIN=local"}, "go", "env", name)
	}
	if _, err := exec.LookPath("go"); err != nil {
		return failed(installGo, "the go command is not on PATH")
	}
	flags, err := get("GOFLAGS")
	if err != nil {
		return failed("see what it says: go env", "the go command does not run: %s", firstLine(err.Error()))
	}
	unset := func(name string) string {
		if os.Getenv(name) != "" {
			return "unset " + name
		}
		return "go env -u " + name
	}
	for _, flag := range strings.Fields(flags) {
		switch name, value, _ := strings.Cut(strings.TrimLeft(flag, "-"), "="); name {
		case "mod":
			if value == "vendor" {
				return failed(unset("GOFLAGS"), "GOFLAGS has %s: the course has no vendor folders, and nothing builds", flag)
			}
		case "modfile", "overlay", "toolexec", "n":
			return failed(unset("GOFLAGS"), "GOFLAGS has %s: what is built is not what is in the files", flag)
		case "trimpath", "race", "msan", "asan", "gcflags", "ldflags", "asmflags", "tags", "a":
			return warn(unset("GOFLAGS"), "GOFLAGS has %s: the build cache keeps such builds apart, so some things are compiled twice", flag)
		}
	}
	for _, kv := range [][2]string{{"GOOS", runtime.GOOS}, {"GOARCH", runtime.GOARCH}} {
		if have, err := get(kv[0]); err == nil && have != kv[1] {
			return failed(unset(kv[0]), "%s=%s: what is built does not run on this machine (%s)", kv[0], have, kv[1])
		}
	}
	if have := os.Getenv("GO111MODULE"); have == "off" {
		return failed(unset("GO111MODULE"), "GO111MODULE=off: the course is made of modules")
	}
	if work := os.Getenv("GOWORK"); work != "" && work != "off" && !sameFile(work, filepath.Join(o.Root, "go.work")) {
		return warn("unset GOWORK", "GOWORK=%s: go test in a chapter's folder and your editor look into another workspace", work)
	}
	if flags == "" {
		return ok("nothing in the way")
	}
	return ok("nothing in the way (GOFLAGS=%s)", flags)
}

func sameFile(a, b string) bool {
	i, err := os.Stat(a)
	j, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(i, j)
}

// size says bytes as a person would.
func size(n uint64) string {
	const giga = 1 << 30
	if n < giga {
		return fmt.Sprintf("%d MB", n>>20)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/giga)
}
