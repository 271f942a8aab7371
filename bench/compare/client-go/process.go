package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// The namespace to list, as in the other programs.
const namespace = "bench-07"

// memory is the resident memory in bytes: now, and at its peak.
func memory() (now, peak uint64) {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		_, _ = fmt.Sscanf(line, "VmRSS: %d kB", &now)
		_, _ = fmt.Sscanf(line, "VmHWM: %d kB", &peak)
	}
	return now * 1024, peak * 1024
}

// cpu is the CPU time of all threads.
func cpu() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// liveHeap is what the garbage collector keeps.
func liveHeap() uint64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// readings say how fast the store answers; times are in µs.
type readings struct{ getsPerSecond, list, namespace, app float64 }

func read(store cache.Indexer) readings {
	app := ""
	for _, object := range store.List() {
		app = object.(*core.Pod).Labels[appLabel]
		break
	}
	return readings{
		getsPerSecond: gets(store),
		list:          micros(func() { _ = store.List() }),
		namespace:     micros(func() { _, _ = store.ByIndex(cache.NamespaceIndex, namespace) }),
		app:           micros(func() { _, _ = store.ByIndex("app", app) }),
	}
}

func gets(store cache.Indexer) float64 {
	keys := store.ListKeys()
	slices.Sort(keys)
	random := rand.New(rand.NewPCG(42, 0))
	random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	begin, found, next := time.Now(), 0, 0
	for time.Since(begin) < 500*time.Millisecond {
		for range 1000 {
			if _, isThere, _ := store.GetByKey(keys[next]); isThere {
				found++
			}
			next++
			if next == len(keys) {
				next = 0
			}
		}
	}
	return float64(found) / time.Since(begin).Seconds()
}

func micros(call func()) float64 {
	begin, calls := time.Now(), 0
	for calls < 3 || time.Since(begin) < 300*time.Millisecond {
		call()
		calls++
	}
	return float64(time.Since(begin)) / float64(time.Microsecond) / float64(calls)
}
