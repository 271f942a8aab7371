package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

const help = `kill-apiserver        kill -9
stop-apiserver        SIGSTOP: it stays connected and silent
cont-apiserver        SIGCONT
start-apiserver       after kill-apiserver; waits until it is ready
restart-etcd          kill -9 and start again
compact               drop all versions in etcd but the newest
seed NAMESPACE COUNT  create this many pods, from pod-00000
quit`

// cluster holds the running processes.
type cluster struct {
	dir       string
	etcdURL   string
	etcd      process
	apiserver process
	config    *rest.Config
}

// up starts a cluster and follows the commands on stdin.
func up(arguments []string) error {
	flags := flag.NewFlagSet("up", flag.ContinueOnError)
	dir := flags.String("dir", "", "the folder for all files")
	keep := flags.Bool("keep", false, "keep running after stdin ends, until SIGTERM")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *dir == "" {
		return fmt.Errorf("--dir is missing\n%s", usage)
	}
	// Children die with the thread that started them, so this thread must stay.
	runtime.LockOSThread()
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, os.Interrupt)

	cluster, err := newCluster(*dir)
	if err != nil {
		return err
	}
	defer cluster.down()
	if err := cluster.etcd.start(); err != nil {
		return err
	}
	if err := cluster.apiserver.start(); err != nil {
		return err
	}
	if err := cluster.writeState(); err != nil {
		return err
	}
	fmt.Println("ready")

	lines := make(chan string)
	go func() {
		scanner := bufio.NewScanner(os.Stdin)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
		close(lines)
	}()
	for {
		select {
		case <-ended:
			return nil
		case line, open := <-lines:
			switch {
			case !open && *keep:
				lines = nil
			case !open, line == "quit":
				return nil
			default:
				answer(cluster.obey(strings.Fields(line)))
			}
		}
	}
}

// answer prints one line on stdout for each command.
func answer(text string, err error) {
	if err != nil {
		fmt.Println("error", strings.ReplaceAll(err.Error(), "\n", " "))
	} else {
		fmt.Println("ok", text)
	}
}

func (c *cluster) obey(words []string) (string, error) {
	if len(words) == 0 {
		return "", fmt.Errorf("an empty command; try help")
	}
	switch command := words[0]; {
	case command == "help":
		return strings.ReplaceAll(help, "\n", " | "), nil
	case command == "kill-apiserver":
		return "", c.apiserver.end(syscall.SIGKILL)
	case command == "stop-apiserver":
		return "", c.apiserver.signal(syscall.SIGSTOP)
	case command == "cont-apiserver":
		return "", c.apiserver.signal(syscall.SIGCONT)
	case command == "start-apiserver":
		if err := c.apiserver.start(); err != nil {
			return "", err
		}
		return "", c.writeState()
	case command == "restart-etcd":
		if err := c.etcd.end(syscall.SIGKILL); err != nil {
			return "", err
		}
		if err := c.etcd.start(); err != nil {
			return "", err
		}
		return "", c.writeState()
	case command == "compact":
		revision, err := compact(c.etcdURL)
		return strconv.FormatInt(revision, 10), err
	case command == "seed" && len(words) == 3:
		count, err := strconv.Atoi(words[2])
		if err != nil {
			return "", err
		}
		return "", seed(c.config, words[1], count)
	default:
		return "", fmt.Errorf("unknown command %q; try help", strings.Join(words, " "))
	}
}

func newCluster(dir string) (*cluster, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	made, err := newCredentials(dir)
	if err != nil {
		return nil, err
	}
	ports, err := freePorts(3)
	if err != nil {
		return nil, err
	}
	loopback := func(scheme string, port int) string { return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port) }
	etcdURL, url := loopback("http", ports[0]), loopback("https", ports[2])
	if err := made.writeKubeconfig(filepath.Join(dir, "kubeconfig"), url); err != nil {
		return nil, err
	}
	config := &rest.Config{
		Host:            url,
		BearerToken:     made.tokens["admin"],
		TLSClientConfig: rest.TLSClientConfig{CAFile: made.ca.certificate},
		// No client-side rate limit.
		QPS:     -1,
		Timeout: time.Minute,
	}
	return &cluster{
		dir:     dir,
		etcdURL: etcdURL,
		config:  config,
		etcd: process{
			name: "etcd",
			dir:  dir,
			arguments: []string{
				"--data-dir", filepath.Join(dir, "etcd"),
				"--client-url", etcdURL,
				"--peer-url", loopback("http", ports[1]),
			},
			ready: func() error { return etcdReady(etcdURL) },
		},
		apiserver: process{
			name:      "apiserver",
			dir:       dir,
			arguments: apiserverArguments(dir, etcdURL, ports[2], made),
			ready:     func() error { return apiserverReady(config) },
		},
	}, nil
}

func apiserverArguments(dir, etcdURL string, port int, made *credentials) []string {
	return []string{
		"--etcd-servers=" + etcdURL,
		// Only tests compact, never a timer.
		"--etcd-compaction-interval=0",
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", port),
		"--cert-dir=" + dir,
		"--tls-cert-file=" + made.server.certificate,
		"--tls-private-key-file=" + made.server.key,
		"--client-ca-file=" + made.ca.certificate,
		"--token-auth-file=" + made.tokenFile,
		"--authorization-mode=RBAC",
		// There is no controller that would create service accounts.
		"--disable-admission-plugins=ServiceAccount",
		"--service-account-issuer=https://e2e.invalid",
		"--service-account-key-file=" + made.server.certificate,
		"--service-account-signing-key-file=" + made.server.key,
		"--service-cluster-ip-range=10.0.0.0/24",
		// A loopback address cannot be an endpoint.
		"--endpoint-reconciler-type=none",
	}
}

// apiserverReady checks that the server is ready and that the default namespace exists, which comes
// a little later.
func apiserverReady(config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	if err := client.RESTClient().Get().AbsPath("/readyz").Do(context.Background()).Error(); err != nil {
		return err
	}
	return namespaceThere(client, "default")
}

// down ends everything, the API server first, so that it does not log errors about etcd.
func (c *cluster) down() {
	_ = c.apiserver.end(syscall.SIGKILL)
	_ = c.etcd.end(syscall.SIGKILL)
}

// writeState writes the locations of everything to DIR/state.json.
func (c *cluster) writeState() error {
	state := map[string]any{
		"supervisorPid": os.Getpid(),
		"etcdPid":       c.etcd.pid(),
		"etcdURL":       c.etcdURL,
		"apiserverPid":  c.apiserver.pid(),
		"apiserverURL":  c.config.Host,
		"kubeconfig":    filepath.Join(c.dir, "kubeconfig"),
		"authority":     c.config.CAFile,
		"adminToken":    c.config.BearerToken,
	}
	text, err := json.MarshalIndent(state, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.dir, "state.json"), append(text, '\n'), 0o600)
}
