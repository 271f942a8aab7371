package main

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// writers is how many requests run at the same time.
const writers = 32

// seed creates pods, and the namespace if it does not exist.
func seed(config *rest.Config, namespace string, count int) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	defer cancel(nil)
	wanted := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: namespace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, wanted, meta.CreateOptions{}); err != nil && !errors.IsAlreadyExists(err) {
		return err
	}
	numbers := make(chan int)
	var writing sync.WaitGroup
	for range writers {
		writing.Go(func() {
			for number := range numbers {
				pod := seededPod(number)
				if _, err := client.CoreV1().Pods(namespace).Create(ctx, pod, meta.CreateOptions{}); err != nil {
					cancel(err)
				}
			}
		})
	}
	for number := range count {
		numbers <- number
	}
	close(numbers)
	writing.Wait()
	return context.Cause(ctx)
}

func seededPod(number int) *core.Pod {
	name := fmt.Sprintf("pod-%05d", number)
	return &core.Pod{
		ObjectMeta: meta.ObjectMeta{
			Name:        name,
			Labels:      map[string]string{"app": "seeded", "shard": strconv.Itoa(number % 10)},
			Annotations: map[string]string{"example.com/note": "pod number " + strconv.Itoa(number)},
		},
		Spec: core.PodSpec{
			NodeName:   fmt.Sprintf("node-%02d", number%50),
			Containers: []core.Container{{Name: "main", Image: "registry.invalid/" + name}},
		},
	}
}

// namespaceThere reports whether the namespace exists.
func namespaceThere(client kubernetes.Interface, name string) error {
	_, err := client.CoreV1().Namespaces().Get(context.Background(), name, meta.GetOptions{})
	return err
}
