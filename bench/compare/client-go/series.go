package main

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

const (
	// The pod that changes last.
	marker = "zz-bench-marker"
	// The annotation with the time at which an event was sent, in ns since 1970.
	sentAt = "bench.example/sent-ns"
)

// handler counts into the current tally, if there is one.
type handler struct {
	registration cache.ResourceEventHandlerRegistration
	current      atomic.Pointer[tally]
}

func (h *handler) OnAdd(object any, _ bool)   { h.hear(object) }
func (h *handler) OnUpdate(_ any, object any) { h.hear(object) }
func (h *handler) OnDelete(object any)        { h.hear(object) }

func (h *handler) hear(object any) {
	tally := h.current.Load()
	if tally == nil {
		return
	}
	if pod, isPod := object.(*core.Pod); isPod {
		tally.count(pod)
	}
}

// tally is what a handler sees of a series of events. Only the handler writes it, until it is over.
type tally struct {
	wantsLatencies bool
	seen           int
	first, last    time.Time
	latencies      []time.Duration
	over           chan struct{}
}

func (t *tally) count(pod *core.Pod) {
	now := time.Now()
	if t.seen == 0 {
		t.first = now
	}
	t.seen++
	if t.wantsLatencies {
		if sent, err := strconv.ParseInt(pod.Annotations[sentAt], 10, 64); err == nil {
			t.latencies = append(t.latencies, now.Sub(time.Unix(0, sent)))
		}
	}
	if pod.Name == marker {
		t.last = now
		close(t.over)
	}
}

// cost is what a series of events took.
type cost struct {
	seen      int
	span      time.Duration
	cpuMicros float64
	latencies []time.Duration
}

func (c cost) percentile(percent int) float64 {
	if len(c.latencies) == 0 {
		return 0
	}
	return float64(c.latencies[(len(c.latencies)-1)*percent/100]) / float64(time.Microsecond)
}

func (c cost) perSecond(events int) float64 {
	if c.span == 0 {
		return 0
	}
	return float64(events) / c.span.Seconds()
}

// series has the load server send events and follows them to the marker.
func series(o *options, handlers []*handler, events int, latencies bool, target string) (cost, error) {
	if events == 0 {
		return cost{}, nil
	}
	time.Sleep(pause)
	var tallies []*tally
	for _, handler := range handlers {
		tally := &tally{wantsLatencies: latencies, over: make(chan struct{})}
		tallies = append(tallies, tally)
		handler.current.Store(tally)
	}
	before := cpu()
	sent := make(chan error, 1)
	go func() { sent <- post(o, target) }()
	isOver := func(tally *tally) bool {
		select {
		case <-tally.over:
			return true
		default:
			return false
		}
	}
	failed := false
	// All programs look once per millisecond.
	for !failed && !all(tallies, isOver) {
		time.Sleep(time.Millisecond)
		select {
		case err := <-sent:
			failed = err != nil
			sent <- err
		default:
		}
	}
	spent := cpu() - before
	if err := <-sent; err != nil {
		return cost{}, err
	}
	for _, handler := range handlers {
		handler.current.Store(nil)
	}
	result := cost{seen: tallies[0].seen, cpuMicros: float64(spent) / float64(time.Microsecond) / float64(events)}
	first, last := tallies[0].first, tallies[0].last
	for _, tally := range tallies {
		if tally.first.Before(first) {
			first = tally.first
		}
		if tally.last.After(last) {
			last = tally.last
		}
		result.latencies = append(result.latencies, tally.latencies...)
	}
	result.span = last.Sub(first)
	slices.Sort(result.latencies)
	return result, nil
}

func all(tallies []*tally, is func(*tally) bool) bool {
	for _, tally := range tallies {
		if !is(tally) {
			return false
		}
	}
	return true
}

// post asks the load server's control interface, without client-go.
func post(o *options, target string) error {
	host := o.control
	if host == "" {
		host = strings.TrimSuffix(strings.TrimPrefix(o.url, "http://"), "/")
	}
	answer, err := http.Post("http://"+host+target, "", nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if _, err := io.Copy(io.Discard, answer.Body); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answered %s to POST %s", host, answer.Status, target)
	}
	return nil
}
