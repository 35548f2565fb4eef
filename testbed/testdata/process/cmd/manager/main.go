// Manager is a small controller's outside: it asks the API server, serves metrics
// and probes, and ends when it is told to.
package main

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/controllings/controllings/todo"
)

func main() {
	metrics := flag.String("metrics", "", "address of /metrics")
	health := flag.String("health", "", "address of /healthz and /readyz")
	writes := flag.Duration("writes", 0, "how often a ConfigMap is made; 0 is never")
	once := flag.Bool("once", false, "make one ConfigMap")
	step := flag.String("step", "", "a step that is not written")
	code := flag.Int("exit", -1, "end at once with this code")
	flag.Parse()
	fmt.Println("manager: here I am")
	if *step != "" {
		panic(todo.Step(*step))
	}
	if *code >= 0 {
		fmt.Println("manager: I can't go on")
		os.Exit(*code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()

	if *metrics != "" {
		go serve(*metrics, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, "# TYPE made counter\nmade{kind=\"configmap\"} %d\nmade{kind=\"nothing\"} 0\n", made.Load())
		})
	}
	if *once {
		create()
	}
	if *health != "" {
		go serve(*health, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "ok") })
	}
	if *writes > 0 {
		ticker := time.NewTicker(*writes)
		for ctx.Err() == nil {
			create()
			select {
			case <-ticker.C:
			case <-ctx.Done():
			}
		}
	}
	<-ctx.Done()
	fmt.Println("manager: told to end")
}

var made atomic.Int64

func create() {
	loading := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(), nil)
	config, err := loading.ClientConfig()
	must(err)
	namespace, _, err := loading.Namespace()
	must(err)
	client, err := rest.HTTPClientFor(config)
	must(err)
	answer, err := client.Post(config.Host+"/api/v1/namespaces/"+namespace+"/configmaps", "application/json",
		strings.NewReader(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"made-"}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	answer.Body.Close()
	fmt.Println("manager: create:", answer.Status)
	made.Add(1)
}

func serve(address string, handler http.HandlerFunc) {
	must(http.ListenAndServe(address, handler))
}

func must(err error) {
	if err != nil {
		fmt.Println("manager:", err)
		os.Exit(1)
	}
}
