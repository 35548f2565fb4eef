package clientset_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	clientset "github.com/controllings/controllings/chapters/01-clientset"
	"github.com/controllings/controllings/testbed"
)

const configPart = "README.md#configuration"

// Servers that nobody listens on: what LoadConfig chose is told by the name.
const (
	explicitServer  = "https://explicit.example:6443"
	envServer       = "https://kubeconfig-variable.example:6443"
	secondServer    = "https://second-of-the-list.example:6443"
	inClusterServer = "https://in-cluster.example:443"
	homeServer      = "https://home.example:6443"
	strayServer     = "https://working-directory.example:6443"
)

func TestLoadConfigFindsTheCluster(t *testing.T) {
	b := testbed.New(t)
	dir := t.TempDir()

	explicit := writeKubeconfig(t, filepath.Join(dir, "explicit"), explicitServer)
	env := writeKubeconfig(t, filepath.Join(dir, "env"), envServer)
	second := writeKubeconfig(t, filepath.Join(dir, "second"), secondServer)
	contextOnly, clusterOnly := splitKubeconfig(t, dir, envServer)
	undecided := undecidedKubeconfig(t, filepath.Join(dir, "undecided"), envServer, secondServer)
	missing := filepath.Join(dir, "missing")
	broken := writeFile(t, filepath.Join(dir, "broken"), "apiVersion: v1\nclusters: {")
	empty := writeFile(t, filepath.Join(dir, "empty"), "")
	folder := filepath.Join(dir, "folder")
	b.Must(os.Mkdir(folder, 0o700), "make a folder")
	loop := filepath.Join(dir, "loop")
	b.Must(os.Symlink(loop, loop), "make a link to itself")
	join := func(files ...string) string { return strings.Join(files, string(filepath.ListSeparator)) }

	// Where HOME isn't set, ".kube/config" alone would be a file of the folder
	// that the program happens to run in.
	const noHome = "HOME not set"
	home, emptyHome := filepath.Join(dir, "home"), filepath.Join(dir, "home without a file")
	writeKubeconfig(t, filepath.Join(home, ".kube", "config"), homeServer)
	workingDirectory := filepath.Join(dir, "working directory")
	writeKubeconfig(t, filepath.Join(workingDirectory, ".kube", "config"), strayServer)
	t.Chdir(workingDirectory)

	unreadable := errors.New("the token file is not readable")
	inPod := func() (*rest.Config, error) { return &rest.Config{Host: inClusterServer}, nil }
	notInPod := func() (*rest.Config, error) { return nil, rest.ErrNotInCluster }
	brokenPod := func() (*rest.Config, error) { return nil, unreadable }

	cases := []struct {
		name       string
		path       string
		kubeconfig string
		inCluster  func() (*rest.Config, error)
		home       string   // "" is a folder without a file
		server     string   // the server that must be chosen, or
		says       []string // what the error must name
		is         error    // and what errors.Is must find in it
	}{
		{name: "an explicit path comes first", path: explicit, kubeconfig: env, inCluster: inPod, home: home, server: explicitServer},
		{name: "an explicit path that is missing is an error, not a reason to look elsewhere", path: missing, kubeconfig: env, inCluster: inPod, home: home, says: []string{missing}},
		{name: "KUBECONFIG comes before the Pod's ServiceAccount and the home file", kubeconfig: env, inCluster: inPod, home: home, server: envServer},
		{name: "KUBECONFIG is a list, and its files are merged", kubeconfig: join(contextOnly, clusterOnly), inCluster: notInPod, server: envServer},
		{name: "of two files in KUBECONFIG that define the same names, the first wins", kubeconfig: join(env, second), inCluster: notInPod, server: envServer},
		{name: "a file that KUBECONFIG lists may be missing while another is there", kubeconfig: join(missing, env), inCluster: notInPod, home: home, server: envServer},
		{name: "a KUBECONFIG of which no file is there is passed over", kubeconfig: missing, inCluster: inPod, server: inClusterServer},
		{name: "a broken file in KUBECONFIG is an error, not a reason to look elsewhere", kubeconfig: broken, inCluster: inPod, home: home, says: []string{broken}},
		{name: "a broken file in KUBECONFIG is an error, even where another of the list is good", kubeconfig: join(broken, env), inCluster: inPod, home: home, says: []string{broken}},
		{name: "a folder in KUBECONFIG is there and can't be read, which is an error, not a reason to look elsewhere", kubeconfig: folder, inCluster: inPod, home: home, says: []string{folder}},
		{name: "a link in KUBECONFIG that leads to itself is there and can't be read, which is an error, not a reason to look elsewhere", kubeconfig: loop, inCluster: inPod, home: home, says: []string{loop}},
		{name: "an empty kubeconfig is an error, never a server at localhost", path: empty, inCluster: notInPod},
		{name: "an empty file in KUBECONFIG is an error: it is there, so the Pod isn't asked", kubeconfig: empty, inCluster: inPod, home: home},
		{name: "in a Pod its ServiceAccount comes before the home file", inCluster: inPod, home: home, server: inClusterServer},
		{name: "a Pod needs no home directory", inCluster: inPod, home: noHome, server: inClusterServer},
		{name: "in a Pod whose ServiceAccount can't be used, that is the error", inCluster: brokenPod, home: home, says: []string{unreadable.Error()}, is: unreadable},
		{name: "the home file comes last", inCluster: notInPod, home: home, server: homeServer},
		{name: "with nothing to be found, the error says where it looked", inCluster: notInPod, says: []string{"KUBECONFIG", "cluster|pod|service account|serviceaccount", filepath.Join(".kube", "config")}},
		{name: "where HOME isn't set, an error that says where it looked: a .kube/config of the working directory is nobody's home", inCluster: notInPod, home: noHome, says: []string{"KUBECONFIG"}},
		{name: "a kubeconfig without a current context is an error: which of its two is meant, nobody said", path: undecided, inCluster: inPod, home: home},
	}
	for _, c := range cases {
		switch c.home {
		case "":
			c.home = emptyHome
		case noHome:
			c.home = ""
		}
		t.Setenv("HOME", c.home)
		t.Setenv("KUBECONFIG", c.kubeconfig)
		homeFileIs(t, filepath.Join(c.home, ".kube", "config"))

		config, err := loadConfig(b, c.path, c.inCluster)
		if c.server != "" {
			b.NoError(err, testbed.Fail{Expected: c.name + ": " + c.server, See: configPart})
			if config == nil || config.Host != c.server {
				b.Fail(testbed.Fail{Expected: c.name + ": " + c.server, Seen: describeConfig(config), See: configPart})
			}
			continue
		}
		if err == nil {
			b.Fail(testbed.Fail{Expected: c.name, Seen: "no error, and " + describeConfig(config), See: configPart})
		}
		for _, word := range c.says {
			if !names(err, word) {
				b.Fail(testbed.Fail{
					Expected: fmt.Sprintf("%s: an error that names %q", c.name, strings.Split(word, "|")[0]),
					Seen:     err.Error(),
					See:      configPart,
				})
			}
		}
		if c.is != nil && !errors.Is(err, c.is) {
			b.Fail(testbed.Fail{
				Expected: c.name + ", kept inside (%w) for a caller that asks errors.Is",
				Seen:     "its text alone: " + err.Error(),
				See:      configPart,
			})
		}
	}

	// And for real: the configuration leads to the API server, as this bed's
	// identity. The certificate lies beside the file that names it.
	beside := kubeconfigWithFiles(t, b, filepath.Join(dir, "real"))
	realHome := filepath.Join(dir, "real home")
	kubeconfigWithFiles(t, b, filepath.Join(realHome, ".kube"))
	for _, c := range []struct{ from, path, kubeconfig, home string }{
		{"at the path", beside, "", emptyHome},
		{"in KUBECONFIG", "", join(missing, beside), emptyHome},
		{"in the home directory", "", "", realHome},
	} {
		t.Setenv("HOME", c.home)
		t.Setenv("KUBECONFIG", c.kubeconfig)
		homeFileIs(t, filepath.Join(c.home, ".kube", "config"))
		config, err := loadConfig(b, c.path, notInPod)
		b.NoError(err, testbed.Fail{
			Expected: "a configuration from a kubeconfig " + c.from + " that works: its certificate-authority, ca.crt, is a file in its own folder",
			See:      configPart,
		})
		if config == nil {
			b.Fail(testbed.Fail{Expected: "a configuration from a kubeconfig " + c.from, Seen: "no error, and " + describeConfig(config), See: configPart})
		}
		client, err := kubernetes.NewForConfig(config)
		b.NoError(err, testbed.Fail{Expected: "a clientset from the configuration of a kubeconfig " + c.from, See: configPart})
		_, err = client.CoreV1().Pods(b.Namespace()).List(b.Context(), metav1.ListOptions{})
		b.NoError(err, testbed.Fail{Expected: "a list of Pods with the loaded configuration: address, authority and token all taken over", See: configPart})
	}
}

// loadConfig calls LoadConfig, and looks at what it did to the environment.
func loadConfig(b *testbed.Bed, path string, inCluster func() (*rest.Config, error)) (*rest.Config, error) {
	before := slices.Sorted(slices.Values(os.Environ()))
	config, err := clientset.LoadConfig(path, inCluster)
	for _, variable := range slices.Sorted(slices.Values(os.Environ())) {
		if !slices.Contains(before, variable) {
			b.Fail(testbed.Fail{
				Expected: "the environment read, and left as it was: other code of the program goes by it too",
				Seen:     "another value of a variable: " + variable,
				See:      configPart,
			})
		}
	}
	return config, err
}

// names tells whether an error holds one of the words between the bars.
func names(err error, words string) bool {
	text := strings.ToLower(err.Error())
	return slices.ContainsFunc(strings.Split(strings.ToLower(words), "|"), func(w string) bool { return strings.Contains(text, w) })
}

func describeConfig(config *rest.Config) string {
	if config == nil {
		return "no configuration"
	}
	return fmt.Sprintf("the server %q", config.Host)
}
