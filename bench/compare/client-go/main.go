// A shared informer of client-go follows pods, measures itself, and prints one line of JSON.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

// The label of the second index, besides the namespace.
const appLabel = "app.kubernetes.io/name"

// After this pause, nothing is in flight any more.
const pause = 300 * time.Millisecond

// options are the flags that all programs of the comparison share, and protobuf.
type options struct {
	url, control, ca, kubeconfig string
	strategy, churnKind          string
	handlers, churn              int
	latRate, latEvents, reads    int
	protobuf                     bool
}

func main() {
	var o options
	flag.StringVar(&o.url, "url", "", "the URL of the load server")
	flag.StringVar(&o.control, "control", "", "HOST:PORT of its control interface; by default that of the URL")
	flag.StringVar(&o.ca, "ca", "", "the CA certificates to trust, as PEM")
	flag.StringVar(&o.kubeconfig, "kubeconfig", "", "a kubeconfig whose current context is used, instead of a URL")
	flag.StringVar(&o.strategy, "strategy", "listwatch", "how the first state is read: listwatch or streaming")
	flag.IntVar(&o.handlers, "handlers", 1, "the number of handlers")
	flag.IntVar(&o.churn, "churn", 0, "how many events are sent at full speed")
	flag.StringVar(&o.churnKind, "churn-kind", "modify", "what these events are: modify or delete_add")
	flag.IntVar(&o.latRate, "lat-rate", 500, "the rate of events in the latency test, per second")
	flag.IntVar(&o.latEvents, "lat-events", 0, "the number of events in the latency test")
	flag.IntVar(&o.reads, "reads", 0, "whether to measure reads of the store: 0 or 1")
	flag.BoolVar(&o.protobuf, "protobuf", false, "ask for protobuf instead of JSON")
	flag.Parse()
	report, err := measure(&o)
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(report)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "client-go:", err)
		os.Exit(1)
	}
}

func measure(o *options) (map[string]any, error) {
	// It is read once, before the first informer.
	streams := map[bool]string{true: "true", false: "false"}[o.strategy == "streaming"]
	if err := os.Setenv("KUBE_FEATURE_WatchListClient", streams); err != nil {
		return nil, err
	}
	baseline, _ := memory()
	cpuBefore, begin := cpu(), time.Now()
	informer, handlers, err := start(o)
	if err != nil {
		return nil, err
	}
	if !cache.WaitForCacheSync(nil, informer.HasSynced) {
		return nil, errors.New("the informer ended before it was synced")
	}
	storeReady := time.Since(begin)
	for _, handler := range handlers {
		for !handler.registration.HasSynced() {
			time.Sleep(time.Millisecond)
		}
	}
	synced, syncCPU := time.Since(begin), cpu()-cpuBefore
	afterSync, peak := memory()
	time.Sleep(pause)
	// Without it, Go returns memory only after minutes.
	debug.FreeOSMemory()
	settled, _ := memory()

	churned, err := series(o, handlers, o.churn, false, fmt.Sprintf("/bench/churn?events=%d&rate=0&kind=%s", o.churn, o.churnKind))
	if err != nil {
		return nil, err
	}
	latency, err := series(o, handlers, o.latEvents, true, fmt.Sprintf("/bench/churn?events=%d&rate=%d", o.latEvents, o.latRate))
	if err != nil {
		return nil, err
	}
	end, peakEnd := memory()
	var reads readings
	if o.reads == 1 {
		reads = read(informer.GetIndexer())
	}
	report := map[string]any{
		"contender": "client-go", "allocator": "go", "strategy": o.strategy, "handlers": o.handlers,
		"n":       len(informer.GetIndexer().ListKeys()),
		"sync_ms": millis(synced), "store_ready_ms": millis(storeReady), "sync_cpu_ms": millis(syncCPU),
		"rss_baseline": baseline, "rss_after_sync": afterSync, "rss_peak": peak, "rss_settled": settled,
		"heap_live": liveHeap(), "rss_end": end, "rss_peak_end": peakEnd,
		"churn_events": o.churn, "churn_seen": churned.seen, "churn_ms": millis(churned.span),
		"churn_events_per_s": churned.perSecond(o.churn), "churn_cpu_us_per_event": churned.cpuMicros,
		"lat_p50_us": latency.percentile(50), "lat_p99_us": latency.percentile(99), "lat_max_us": latency.percentile(100),
		"lat_cpu_us_per_event": latency.cpuMicros,
		"get_ops_s":            reads.getsPerSecond, "list_all_us": reads.list, "list_ns_us": reads.namespace, "index_app_us": reads.app,
	}
	return report, nil
}

// start starts an informer with an index by namespace and one by a label.
func start(o *options) (cache.SharedIndexInformer, []*handler, error) {
	config, err := configure(o)
	if err != nil {
		return nil, nil, err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, nil, err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	byApp := func(object any) ([]string, error) {
		if value, found := object.(*core.Pod).Labels[appLabel]; found {
			return []string{value}, nil
		}
		return nil, nil
	}
	if err := informer.AddIndexers(cache.Indexers{"app": byApp}); err != nil {
		return nil, nil, err
	}
	var handlers []*handler
	for range o.handlers {
		handler := &handler{}
		handler.registration, err = informer.AddEventHandler(handler)
		if err != nil {
			return nil, nil, err
		}
		handlers = append(handlers, handler)
	}
	factory.StartWithContext(context.Background())
	return informer, handlers, nil
}

func configure(o *options) (*rest.Config, error) {
	config := &rest.Config{Host: o.url, TLSClientConfig: rest.TLSClientConfig{CAFile: o.ca}}
	if o.kubeconfig != "" {
		var err error
		if config, err = clientcmd.BuildConfigFromFlags("", o.kubeconfig); err != nil {
			return nil, err
		}
	} else if o.url == "" {
		return nil, errors.New("--url or --kubeconfig is missing")
	}
	// No limit on this side.
	config.QPS = -1
	if o.protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
		config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	} else {
		config.ContentType = "application/json"
		config.AcceptContentTypes = "application/json"
	}
	return config, nil
}

func millis(duration time.Duration) float64 { return float64(duration) / float64(time.Millisecond) }
