// The same with client-go: a Secret beside each ConfigMap with the label copy-to=secret.
package main

import (
	"bytes"
	"context"
	"errors"
	"log"
	"maps"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

type controller struct {
	client  kubernetes.Interface
	maps    listers.ConfigMapLister
	secrets cache.Indexer
	queue   workqueue.TypedRateLimitingInterface[cache.ObjectName]
}

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		log.Fatal(err)
	}
	config.ContentType = "application/json" // The mock API server does not speak protobuf.
	client := kubernetes.NewForConfigOrDie(config)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()

	labelled := informers.NewSharedInformerFactoryWithOptions(client, 0,
		informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "copy-to=secret" }))
	all := informers.NewSharedInformerFactory(client, 0)
	mapInformer := labelled.Core().V1().ConfigMaps()
	secretInformer := all.Core().V1().Secrets().Informer()
	must(secretInformer.AddIndexers(cache.Indexers{"owner": func(obj any) ([]string, error) {
		if owner := metav1.GetControllerOf(obj.(*corev1.Secret)); owner != nil {
			return []string{string(owner.UID)}, nil
		}
		return nil, nil
	}}))
	c := &controller{
		client:  client,
		maps:    mapInformer.Lister(),
		secrets: secretInformer.GetIndexer(),
		queue: workqueue.NewTypedRateLimitingQueue(
			workqueue.DefaultTypedControllerRateLimiter[cache.ObjectName]()),
	}
	mapped := must1(mapInformer.Informer().AddEventHandler(onEach(c.enqueueThis)))
	owned := must1(secretInformer.AddEventHandler(onEach(c.enqueueOwner)))
	labelled.Start(ctx.Done())
	all.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), mapped.HasSynced, owned.HasSynced) {
		log.Fatal(errors.New("the caches did not sync"))
	}

	var workers sync.WaitGroup
	for range 4 {
		workers.Add(1)
		go func() {
			defer workers.Done()
			wait.UntilWithContext(ctx, c.work, time.Second)
		}()
	}
	<-ctx.Done()
	c.queue.ShutDownWithDrain()
	workers.Wait()
	labelled.Shutdown()
	all.Shutdown()
}

func onEach(handle func(obj any)) cache.ResourceEventHandler {
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    handle,
		UpdateFunc: func(_, obj any) { handle(obj) },
		DeleteFunc: handle,
	}
}

func (c *controller) enqueueThis(obj any) {
	if key, err := cache.DeletionHandlingObjectToName(obj); err == nil {
		c.queue.Add(key)
	}
}

func (c *controller) enqueueOwner(obj any) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	secret, ok := obj.(*corev1.Secret)
	if !ok {
		return
	}
	if owner := metav1.GetControllerOf(secret); owner != nil && owner.APIVersion == "v1" && owner.Kind == "ConfigMap" {
		c.queue.Add(cache.NewObjectName(secret.Namespace, owner.Name))
	}
}

func (c *controller) work(ctx context.Context) {
	for {
		key, quit := c.queue.Get()
		if quit {
			return
		}
		if err := c.reconcile(context.WithoutCancel(ctx), key); err != nil {
			log.Printf("%v: %v", key, err)
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}

func (c *controller) reconcile(ctx context.Context, key cache.ObjectName) error {
	configMap, err := c.maps.ConfigMaps(key.Namespace).Get(key.Name)
	if apierrors.IsNotFound(err) {
		// The garbage collector deletes the Secret.
		return nil
	} else if err != nil {
		return err
	}
	data := make(map[string][]byte, len(configMap.Data))
	for name, value := range configMap.Data {
		data[name] = []byte(value)
	}
	known, err := c.secrets.ByIndex("owner", string(configMap.UID))
	if err != nil {
		return err
	}
	secrets := c.client.CoreV1().Secrets(key.Namespace)
	if len(known) > 0 {
		secret := known[0].(*corev1.Secret).DeepCopy()
		if maps.EqualFunc(secret.Data, data, bytes.Equal) {
			return nil
		}
		secret.Data = data
		_, err = secrets.Update(ctx, secret, metav1.UpdateOptions{})
		return err
	}
	owner := metav1.NewControllerRef(configMap, corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	// The cache may not show the last write yet. Then this fails, and is retried.
	_, err = secrets.Create(ctx, &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: key.Name, OwnerReferences: []metav1.OwnerReference{*owner}},
		Data:       data,
	}, metav1.CreateOptions{})
	return err
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func must1[T any](value T, err error) T {
	must(err)
	return value
}
