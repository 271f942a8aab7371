// The server side of the end-to-end tests: a real etcd and a real kube-apiserver on loopback, and
// kubectl.
//
// It is one program, so that there is one thing to build. Parts that tests kill run as separate
// processes: `up` starts this program again as `etcd` and as `apiserver`.
package main

import (
	"fmt"
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

const usage = `usage:
  e2e-apiserver up --dir DIR [--keep]  etcd and kube-apiserver, with all that they need in DIR; then
                                       commands on stdin, one a line (see "help"). Ends with stdin, or
                                       with --keep on SIGTERM.
  e2e-apiserver kubectl ARGUMENTS      kubectl of the same version
  e2e-apiserver etcd | apiserver …     what "up" starts
`

func main() {
	if len(os.Args) < 2 {
		fail(usage)
	}
	rest := os.Args[2:]
	var err error
	switch os.Args[1] {
	case "up":
		err = up(rest)
	case "etcd":
		err = runEtcd(rest)
	case "apiserver":
		command := app.NewAPIServerCommand()
		command.SetArgs(rest)
		os.Exit(cli.Run(command))
	case "kubectl":
		// kubectl reads the process arguments in more than one place.
		os.Args = append([]string{"kubectl"}, rest...)
		if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
			util.CheckErr(err)
		}
	default:
		fail(usage)
	}
	if err != nil {
		fail(err.Error() + "\n")
	}
}

func fail(text string) {
	fmt.Fprint(os.Stderr, text)
	os.Exit(1)
}
