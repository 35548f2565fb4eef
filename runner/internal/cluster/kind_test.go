package cluster

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/controllings/controllings/runner/internal/hint"
)

// fakeDocker puts a docker on PATH whose answers are files, one for each of its
// commands: NAME is printed, NAME.err is said with exit code 1. What was asked is
// in the file "asked".
func fakeDocker(t *testing.T, files map[string]string) (asked func() string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	script := `#!/bin/sh
echo "$*" >> "` + dir + `/asked"
answer="` + dir + `/$1"
if [ -e "$answer.err" ]; then cat "$answer.err" >&2; exit 1; fi
if [ -e "$answer" ]; then cat "$answer"; fi
`
	bin := filepath.Join(dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(bin, "docker"), []byte(script), 0o700))
	t.Setenv("PATH", bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	return func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "asked"))
		return string(text)
	}
}

const (
	goodInfo  = `{"MemTotal":8000000000}`
	someNode  = `{"Names":"controllings-control-plane","State":"running","Status":"Up 2 minutes"}`
	noImage   = "Error: No such image: kindest/node"
	withImage = `[{"Config":{"Labels":null}}]`
)

// What can be wrong with the machine is one error line and a hint line, and
// nothing is made.
func TestKindWhatIsWrongWithTheMachine(t *testing.T) {
	for name, tc := range map[string]struct {
		docker map[string]string // nil = there is none
		env    map[string]string
		says   string
		hint   string
	}{
		"no docker": {nil, nil, "no docker on PATH", "CLUSTER=embedded"},
		"stopped": {map[string]string{"info.err": "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?"}, nil,
			"Cannot connect to the Docker daemon", "systemctl start docker"},
		"stopped, as older clients say it": {map[string]string{"info": `{"ServerErrors":["Cannot connect to the Docker daemon at unix:///var/run/docker.sock."]}`}, nil,
			"Cannot connect to the Docker daemon", "systemctl start docker"},
		"no rights": {map[string]string{"info.err": "permission denied while trying to connect to the Docker daemon socket"}, nil,
			"permission denied", "usermod -aG docker"},
		"taken": {map[string]string{"info": goodInfo, "ps": someNode}, nil,
			`a kind cluster "controllings" that is not of this LAB_HOME`, "LAB_KIND_CLUSTER"},
		"no registry": {map[string]string{"info": goodInfo, "image.err": noImage, "pull.err": "dial tcp: lookup registry.example: no such host"}, nil,
			"no such host", "make node-image"},
		"no such image": {map[string]string{"info": goodInfo, "image.err": noImage, "pull.err": "manifest unknown"}, map[string]string{imageVar: "mirror.example/node:v9"},
			"pull the node image mirror.example/node:v9: manifest unknown", "KIND_NODE_IMAGE"},
		"too little memory": {map[string]string{"info": `{"MemTotal":1500000000}`, "image": withImage}, nil,
			"a kind cluster of 3 nodes needs 2.5 GB", "CLUSTER=embedded"},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.docker == nil {
				t.Setenv("PATH", t.TempDir())
			} else {
				fakeDocker(t, tc.docker)
			}
			for name, value := range tc.env {
				t.Setenv(name, value)
			}
			root, err := filepath.Abs("../../..")
			require.NoError(t, err)
			k := newKind(Options{Root: root, Home: t.TempDir(), Status: os.Stderr})
			err = k.Up(t.Context())
			require.Error(t, err)
			assert.Contains(t, err.Error(), tc.says)
			assert.Contains(t, hint.Of(err), tc.hint)
			assert.NoFileExists(t, k.record(), "nothing was made, so nothing is ours")
			assert.NoFileExists(t, k.Kubeconfig())
		})
	}
}

// A cluster that isn't ours is not taken down, and Docker isn't even asked.
func TestKindDownLeavesOthersAlone(t *testing.T) {
	asked := fakeDocker(t, map[string]string{"info": goodInfo, "ps": someNode})
	k := newKind(Options{Home: t.TempDir(), Status: os.Stderr})
	require.NoError(t, k.Down(t.Context()))
	assert.Empty(t, asked())
	st, err := k.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, Down, st.State)
}

// A node that does not run is seen and named, and what mends it too.
func TestKindStatusOfAStoppedNode(t *testing.T) {
	fakeDocker(t, map[string]string{"info": goodInfo, "ps": someNode + `
{"Names":"controllings-worker","State":"exited","Status":"Exited (137) 5 seconds ago"}`})
	k := newKind(Options{Home: t.TempDir(), Status: os.Stderr})
	require.NoError(t, mkdir(k.dir()))
	require.NoError(t, k.keep(&kindRecord{Name: "controllings", Made: true}))
	st, err := k.Status(t.Context())
	require.NoError(t, err)
	assert.Equal(t, Degraded, st.State)
	assert.Contains(t, st.Reason, "controllings-worker does not run; make cluster-up starts it again")
	assert.Equal(t, []Component{
		{Name: "controllings-control-plane", State: "running"},
		{Name: "controllings-worker", State: "stopped", Exit: "Exited (137) 5 seconds ago"},
	}, st.Components)
}

func TestKindWhichImage(t *testing.T) {
	labelled := `[{"Config":{"Labels":{"` + builtLabel + `":"v1.37.2"}}}]`
	for name, tc := range map[string]struct {
		inspect, env, config string
	}{
		"stock":           {withImage, "", "kind-config.yaml"},
		"named":           {withImage, "mine:1", "kind-config.yaml"},
		"named and built": {labelled, "mine:1", "scripts/node-image/kind-config.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			asked := fakeDocker(t, map[string]string{"image": tc.inspect})
			t.Setenv(imageVar, tc.env)
			k := newKind(Options{Root: "/course", Home: t.TempDir(), Status: os.Stderr})
			image, config, err := k.image(t.Context())
			require.NoError(t, err)
			if tc.env != "" {
				assert.Equal(t, tc.env, image)
			} else {
				assert.Contains(t, image, "kindest/node:")
			}
			assert.Equal(t, filepath.Join("/course", tc.config), config)
			assert.NotContains(t, asked(), "pull")
		})
	}
}
