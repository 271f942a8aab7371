// A client-go informer that reports what it sees: one JSON line for each request, each
// notification, and the sync. It ends with stdin.
//
// The environment decides whether it lists or streams the first state, as in client-go:
// KUBE_FEATURE_WatchListClient=true or =false.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

var pods = schema.GroupVersionResource{Version: "v1", Resource: "pods"}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "the kubeconfig of the server")
	form := flag.String("form", "typed", "typed, dynamic or metadata")
	selector := flag.String("selector", "", "a label selector")
	flag.Parse()
	if err := run(*kubeconfig, *form, *selector); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, form, selector string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	said := &teller{lines: json.NewEncoder(os.Stdout)}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return &eavesdropper{next, said} })
	informer, err := newInformer(config, form, selector)
	if err != nil {
		return err
	}
	handler, err := informer.AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInitial bool) {
			if isInitial {
				said.object("initial", object)
			} else {
				said.object("added", object)
			}
		},
		UpdateFunc: func(_, object any) { said.object("updated", object) },
		DeleteFunc: func(object any) { said.object("deleted", object) },
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		informer.RunWithContext(ctx)
		close(ended)
	}()
	if cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) {
		said.tell(map[string]any{"saw": "synced", "count": len(informer.GetStore().List())})
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	stop()
	<-ended
	return err
}

func newInformer(config *rest.Config, form, selector string) (cache.SharedIndexInformer, error) {
	tweak := func(options *metav1.ListOptions) { options.LabelSelector = selector }
	switch form {
	case "typed":
		client, err := kubernetes.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(tweak))
		return factory.Core().V1().Pods().Informer(), nil
	case "dynamic":
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, metav1.NamespaceAll, tweak)
		return factory.ForResource(pods).Informer(), nil
	case "metadata":
		client, err := metadata.NewForConfig(config)
		if err != nil {
			return nil, err
		}
		factory := metadatainformer.NewFilteredSharedInformerFactory(client, 0, metav1.NamespaceAll, tweak)
		return factory.ForResource(pods).Informer(), nil
	default:
		return nil, fmt.Errorf("-form %q is not known: typed, dynamic or metadata", form)
	}
}

// teller writes one line at a time.
type teller struct {
	lock  sync.Mutex
	lines *json.Encoder
}

func (t *teller) tell(line map[string]any) {
	t.lock.Lock()
	defer t.lock.Unlock()
	_ = t.lines.Encode(line)
}

func (t *teller) object(saw string, object any) {
	// Deletions that the watch missed come in a wrapper.
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		saw, object = saw+" unseen", gone.Obj
	}
	accessor, err := meta.Accessor(object)
	if err != nil {
		t.tell(map[string]any{"saw": saw, "error": err.Error()})
		return
	}
	t.tell(map[string]any{"saw": saw, "name": accessor.GetName(), "app": accessor.GetLabels()["app"]})
}

// eavesdropper reports the requests for the state.
type eavesdropper struct {
	next http.RoundTripper
	said *teller
}

func (e *eavesdropper) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	how := "list"
	switch {
	case query.Get("sendInitialEvents") == "true":
		how = "streamed list"
	case query.Has("watch"):
		how = "watch"
	}
	response, err := e.next.RoundTrip(request)
	if err != nil {
		e.said.tell(map[string]any{"saw": "no answer", "to": how})
		return nil, err
	}
	contentType := response.Header.Get("Content-Type")
	e.said.tell(map[string]any{"saw": "answer", "to": how, "status": response.StatusCode, "type": contentType})
	return response, nil
}
