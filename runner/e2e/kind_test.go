//go:build kind

package e2e

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onKind is a person on the kind cluster of this LAB_HOME, which is up.
func onKind(t *testing.T) *person {
	t.Helper()
	p := newPerson(t)
	p.set("CLUSTER", "kind")
	home := os.Getenv("LAB_HOME")
	if home == "" {
		home = filepath.Join(root, ".lab")
	}
	p.set("LAB_HOME", home)
	if name := os.Getenv("LAB_KIND_CLUSTER"); name != "" {
		p.set("LAB_KIND_CLUSTER", name)
	}
	p.lab(0, "cluster", "status")
	return p
}

// program builds testdata/NAME.go as a part of chapter 1's solution, and loads it
// into the cluster as an image of the same name.
func (p *person) program(name string) {
	p.t.Helper()
	source, err := filepath.Abs(filepath.Join("testdata", name+".go"))
	require.NoError(p.t, err)
	solution := filepath.Join(root, "solutions", "01-clientset")
	overlay, err := json.Marshal(map[string]map[string]string{
		"Replace": {filepath.Join(solution, "cmd", name, "main.go"): source},
	})
	require.NoError(p.t, err)
	dir := p.t.TempDir()
	overlayFile, binary := filepath.Join(dir, "overlay.json"), filepath.Join(dir, name)
	require.NoError(p.t, os.WriteFile(overlayFile, overlay, 0o600))
	build := exec.Command("go", "build", "-C", solution, "-buildvcs=false", "-overlay", overlayFile, "-ldflags=-s -w", "-o", binary, "./cmd/"+name)
	build.Env = append(p.env, "GOWORK=off", "CGO_ENABLED=0", "GOFLAGS=-mod=readonly")
	out, err := build.CombinedOutput()
	require.NoError(p.t, err, "%s", out)

	data, err := os.ReadFile(binary)
	require.NoError(p.t, err)
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	require.NoError(p.t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(data))}))
	_, err = w.Write(data)
	require.NoError(p.t, err)
	require.NoError(p.t, w.Close())
	tag := "controllings/" + name + ":e2e"
	load := exec.Command("docker", "import", "--change", `ENTRYPOINT ["/`+name+`"]`, "-", tag)
	load.Stdin = &image
	out, err = load.CombinedOutput()
	require.NoError(p.t, err, "%s", out)
	p.t.Cleanup(func() {
		out, err := exec.Command("docker", "image", "rm", tag).CombinedOutput()
		assert.NoError(p.t, err, "%s", out)
	})
	p.lab(0, "cluster", "load", tag)
}

// Step 1.6 for real: in a Pod, LoadConfig finds the Pod's ServiceAccount, and the
// cluster's DNS knows the API server and a Service.
func TestKindAPodFindsItsCluster(t *testing.T) {
	p := onKind(t)
	p.program("incluster")
	const ns = "e2e-incluster"
	p.run(lab, "cluster", "kubectl", "delete", "namespace", ns, "--ignore-not-found")
	manifest, err := filepath.Abs("testdata/incluster.yaml")
	require.NoError(t, err)
	t.Cleanup(func() {
		gone := exec.Command(lab, "cluster", "kubectl", "delete", "namespace", ns, "--wait=false")
		gone.Dir, gone.Env = root, p.env
		if out, err := gone.CombinedOutput(); err != nil {
			t.Errorf("remove the namespace: %v\n%s", err, out)
		}
	})
	p.lab(0, "cluster", "kubectl", "apply", "-f", manifest)
	phase := ""
	eventually(t, 2*time.Minute, func() string {
		phase = p.lab(0, "cluster", "kubectl", "-n", ns, "get", "pod", "incluster", "-o", "jsonpath={.status.phase}").stdout
		if phase == "Succeeded" || phase == "Failed" {
			return ""
		}
		return "the Pod is " + phase
	})
	logs := p.lab(0, "cluster", "kubectl", "-n", ns, "logs", "incluster").stdout
	assert.Equal(t, "Succeeded", phase, logs)
	want(t, logs, "ConfigMaps: kube-root-ca.crt settings", "kubernetes.default.svc: 10.", "incluster: 10.")
}

// A node that dies in the middle is nobody's wrong answer, and up repairs it.
func TestKindTheNodeDiesUnderAGrade(t *testing.T) {
	p := onKind(t)
	name := os.Getenv("LAB_KIND_CLUSTER")
	if name == "" {
		name = "controllings"
	}
	outage(t, p, func() {
		out, err := exec.Command("docker", "kill", name+"-control-plane").CombinedOutput()
		require.NoError(t, err, "%s", out)
	})
	r := p.lab(2, "cluster", "status")
	want(t, r.stdout, "kind is degraded", "make cluster-up starts it again")
	p.lab(0, "cluster", "up")
	r = p.lab(0, "run", "1", "--answer", "solution")
	want(t, r.stdout, "Chapter 1 is done.")
}
