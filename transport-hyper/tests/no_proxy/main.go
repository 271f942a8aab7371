// Writes table.tsv: whether Go sends a request to a server through the proxy, for each NO_PROXY.
//
//	go mod init table && go get golang.org/x/net@v0.62.0 && go run . >table.tsv
package main

import (
	"fmt"
	"net/url"

	"golang.org/x/net/http/httpproxy"
)

var lists = []string{
	"", "*", " * ", "a.org,*", "*,a.org", "*:6443", ",", " , ",
	"example.org", ".example.org", "*.example.org", "EXAMPLE.org", " example.org ", "a.org , example.org",
	"org", ".org", "xample.org", "*example.org", "kube.example.org", ".kube.example.org", "example.org.", "*.", ".", "..example.org",
	"example.org:6443", "example.org:443", "example.org:", ".example.org:6443", "*.example.org:80", ":6443", "example.org:06443",
	"localhost", "127.0.0.1", "::1",
	"10.0.0.1", "10.0.0", "10.", "10.0.0.1:6443", "10.0.0.1:443", "10.0.0.1:", "010.0.0.1", ".0.0.1",
	"10.0.0.0/8", "10.0.0.1/32", "10.0.0.1/0", "10.0.0.0/33", "10.0.0.0/08", "10.0.0.0/+8", "10.0.0.0/", "/8", "10.0.0.0/8:6443", "0.0.0.0/0", "10.0.0.128/25",
	"2001:db8::1", "[2001:db8::1]", "[2001:db8::1]:6443", "[2001:db8::1]:443", "2001:DB8:0::1", "[[2001:db8::1]]:6443", "[2001:db8::1", "2001:db8::1]:6443",
	"2001:db8::/32", "2001:db8::/129", "2001:db8::1/128", "::/0",
	"::ffff:10.0.0.1", "::ffff:10.0.0.0/104", "::ffff:10.0.0.0/64", "[::ffff:10.0.0.1]:6443", "::ffff:0.0.0.0/96", "::ffff:10.0.0.0/95",
	"192.168.0.0/16, 10.0.0.0/8;example.org", "example.org 10.0.0.1", "kube_1.example.org", "http://example.org", "a,b,c,10.0.0.1",
}

var servers = []string{
	"https://example.org", "https://example.org:6443", "http://example.org", "https://EXAMPLE.ORG:6443", "https://kube.example.org:6443",
	"https://notexample.org", "https://example.org.", "https://org", "https://kube_1.example.org:443", "https://a.b.example.org",
	"https://localhost:6443", "https://LOCALHOST:6443", "https://localhost.", "https://a.localhost", "http://127.0.0.1:8080", "https://127.9.9.9", "https://[::1]:6443", "https://[::ffff:127.0.0.1]",
	"https://10.0.0.1", "https://10.0.0.1:6443", "http://10.0.0.1", "https://10.255.0.1", "https://11.0.0.1", "https://[::ffff:10.0.0.1]:6443", "https://0.0.0.0",
	"https://[2001:db8::1]", "https://[2001:db8::1]:6443", "https://[2001:db8::2]", "https://[2001:DB8:0:0::1]", "https://[2001:db9::1]", "https://[::2]",
}

func main() {
	fmt.Println("# NO_PROXY, server, and what Go does: golang.org/x/net v0.62.0, by main.go")
	for _, list := range lists {
		config := httpproxy.Config{HTTPProxy: "http://proxy:3128", HTTPSProxy: "http://proxy:3128", NoProxy: list}
		choose := config.ProxyFunc()
		for _, server := range servers {
			address, err := url.Parse(server)
			if err != nil {
				panic(err)
			}
			proxy, err := choose(address)
			if err != nil {
				panic(err)
			}
			way := "direct"
			if proxy != nil {
				way = "proxy"
			}
			fmt.Printf("%s\t%s\t%s\n", list, server, way)
		}
	}
}
