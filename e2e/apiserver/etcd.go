package main

import (
	"context"
	"errors"
	"flag"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/embed"
)

// runEtcd is the process `etcd`.
func runEtcd(arguments []string) error {
	flags := flag.NewFlagSet("etcd", flag.ContinueOnError)
	data := flags.String("data-dir", "", "the data folder")
	clients := flags.String("client-url", "", "the URL for clients")
	peers := flags.String("peer-url", "", "the URL for peers")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	client, err := url.Parse(*clients)
	if err != nil {
		return err
	}
	peer, err := url.Parse(*peers)
	if err != nil {
		return err
	}
	config := embed.NewConfig()
	config.Dir = *data
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{*client}, []url.URL{*client}
	config.ListenPeerUrls, config.AdvertisePeerUrls = []url.URL{*peer}, []url.URL{*peer}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.LogLevel = "warn"
	// The machine does not lose power in these tests, and fsync would slow them down.
	config.UnsafeNoFsync = true
	server, err := embed.StartEtcd(config)
	if err != nil {
		return err
	}
	defer server.Close()

	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	select {
	case <-ended:
		return nil
	case <-server.Server.StopNotify():
		return errors.New("etcd stopped by itself")
	case err := <-server.Err():
		return err
	}
}

// withEtcd runs a function with an etcd client.
func withEtcd(url string, do func(context.Context, *clientv3.Client) error) error {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{url}, DialTimeout: 5 * time.Second})
	if err != nil {
		return err
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	return do(ctx, client)
}

// etcdReady reports whether etcd answers.
func etcdReady(url string) error {
	return withEtcd(url, func(ctx context.Context, client *clientv3.Client) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		_, err := client.Get(ctx, "ready")
		return err
	})
}

// compact drops everything but the newest state, and returns its revision.
func compact(url string) (revision int64, err error) {
	err = withEtcd(url, func(ctx context.Context, client *clientv3.Client) error {
		newest, err := client.Get(ctx, "ready")
		if err != nil {
			return err
		}
		revision = newest.Header.Revision
		_, err = client.Compact(ctx, revision, clientv3.WithCompactPhysical())
		return err
	})
	return revision, err
}
