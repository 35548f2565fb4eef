package doctor

import (
	"context"
	"os/exec"
	"strings"
)

// git applies the patches that every answer but the learner's own is made of.
func git(ctx context.Context, o Options) Finding {
	const install = "install git (https://git-scm.com/downloads) and put it on PATH"
	if _, err := exec.LookPath("git"); err != nil {
		return failed(install, "git is not on PATH")
	}
	have, err := command(ctx, o.Root, nil, "git", "version")
	if err != nil {
		return failed(install+"; on a Mac: xcode-select --install", "git does not run: %s", firstLine(err.Error()))
	}
	return ok("%s", strings.TrimPrefix(firstLine(have), "git version "))
}

// compiler is needed by the race detector alone.
func compiler(ctx context.Context, o Options) Finding {
	const mend = "for the race detector install gcc or clang; nothing else needs it"
	settings, err := command(ctx, o.Root, []string{"GOTOOLCHAIN=local", "GOWORK=off"}, "go", "env", "CC", "CGO_ENABLED")
	if err != nil {
		return warn(mend, "not known: the go command does not run")
	}
	cc, enabled, _ := strings.Cut(settings, "\n")
	if enabled == "0" {
		if _, err := exec.LookPath(firstWord(cc)); err != nil {
			return warn(mend, "none: code is not looked at by the race detector")
		}
		return warn("unset CGO_ENABLED, or go env -u CGO_ENABLED", "CGO_ENABLED=0: code is not looked at by the race detector")
	}
	if _, err := exec.LookPath(firstWord(cc)); err != nil {
		return warn(mend, "no %s on PATH: code is not looked at by the race detector", firstWord(cc))
	}
	said, err := command(ctx, o.Root, nil, firstWord(cc), "--version")
	if err != nil {
		return warn(mend+"; on a Mac: xcode-select --install", "%s does not run: %s", firstWord(cc), firstLine(err.Error()))
	}
	return ok("%s", firstLine(said))
}

func firstWord(s string) string {
	if f := strings.Fields(s); len(f) > 0 {
		return f[0]
	}
	return "cc"
}

// docker is looked at with CLUSTER=kind only.
func docker(ctx context.Context, o Options) Finding {
	if _, err := exec.LookPath("docker"); err != nil {
		return failed("install Docker, or unset CLUSTER: the embedded cluster needs none", "docker is not on PATH, and CLUSTER=kind needs it")
	}
	have, err := command(ctx, o.Root, nil, "docker", "info", "--format", "{{.ServerVersion}}")
	if err != nil {
		return failed("start Docker, and see that you may use it: docker info", "docker does not answer: %s", firstLine(err.Error()))
	}
	return ok("%s", have)
}
