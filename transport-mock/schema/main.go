// Writes the tables of ../src/protobuf/schema, and samples for ../tests/protobuf, from the Go types of the
// Kubernetes API:
//
//	go run . ../src/protobuf/schema ../tests/protobuf/samples
package main

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v1"
	batch "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	events "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The kinds that the server has. All other messages are those that these contain.
var roots = []any{
	core.Pod{}, core.Node{}, core.Namespace{}, core.Service{}, core.Endpoints{}, core.ConfigMap{},
	core.Secret{}, core.ServiceAccount{}, core.Event{}, core.ReplicationController{},
	apps.Deployment{}, apps.ReplicaSet{}, apps.StatefulSet{}, apps.DaemonSet{},
	batch.Job{}, coordination.Lease{}, events.Event{}, autoscaling.Scale{},
	meta.PartialObjectMetadata{}, meta.ListMeta{}, meta.Status{},
}

// Types with an encoding of their own.
var special = []reflect.Type{
	reflect.TypeFor[meta.Time](), reflect.TypeFor[meta.MicroTime](), reflect.TypeFor[meta.FieldsV1](),
	reflect.TypeFor[resource.Quantity](), reflect.TypeFor[intstr.IntOrString](),
}

type tables struct {
	// The lines of each message, by file and name.
	files map[string]map[string][]string
}

func main() {
	all := tables{map[string]map[string][]string{}}
	for _, root := range roots {
		all.add(reflect.TypeOf(root))
	}
	for file, messages := range all.files {
		var text strings.Builder
		for _, name := range sorted(messages) {
			text.WriteString(file + "." + name + "\n" + strings.Join(messages[name], ""))
		}
		path := filepath.Join(os.Args[1], file+".txt")
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	if err := writeSamples(os.Args[2]); err != nil {
		log.Fatal(err)
	}
}

// file is `core` for a type of `k8s.io/api/core/v1`.
func file(of reflect.Type) string {
	parts := strings.Split(of.PkgPath(), "/")
	return parts[len(parts)-2]
}

func (t tables) add(message reflect.Type) {
	file := file(message)
	if t.files[file] == nil {
		t.files[file] = map[string][]string{}
	}
	if _, known := t.files[file][message.Name()]; known {
		return
	}
	t.files[file][message.Name()] = nil
	lines := map[int]string{}
	for n := range message.NumField() {
		field := message.Field(n)
		tag := strings.Split(field.Tag.Get("protobuf"), ",")
		if len(tag) < 2 {
			continue // The kind and the API version are in the envelope.
		}
		number, err := strconv.Atoi(tag[1])
		if err != nil {
			log.Fatal(message, field.Name, err)
		}
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if options == "inline" {
			name = ".."
		}
		lines[number] = fmt.Sprintf("  %s %d %s\n", name, number, t.name(field.Type))
	}
	for _, number := range sorted(lines) {
		t.files[file][message.Name()] = append(t.files[file][message.Name()], lines[number])
	}
}

// name writes a type as in Go, and adds the messages that it contains.
func (t tables) name(of reflect.Type) string {
	switch {
	case slices.Contains(special, of):
		return of.Name()
	case of.Kind() == reflect.Pointer:
		return "*" + t.name(of.Elem())
	case of.Kind() == reflect.Slice && of.Elem().Kind() == reflect.Uint8:
		return "[]byte"
	case of.Kind() == reflect.Slice:
		return "[]" + t.name(of.Elem())
	case of.Kind() == reflect.Map:
		return "map[string]" + t.name(of.Elem())
	case of.Kind() != reflect.Struct:
		return of.Kind().String()
	}
	t.add(of)
	return file(of) + "." + of.Name()
}

func sorted[K int | string, V any](entries map[K]V) []K {
	keys := make([]K, 0, len(entries))
	for key := range entries {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
