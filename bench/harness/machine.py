"""On what and of what it was measured."""

import os
import platform
import re
import shutil
import subprocess

from harness.contenders import ROOT


def about():
    """Lines for the report. No names of machines or people."""
    with open("/proc/meminfo", encoding="ascii") as file:
        memory = int(re.search(r"MemTotal:\s+(\d+)", file.read())[1]) / 1024 / 1024
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"model name\s*:\s*(.*)", file.read())
    return {
        "machine": f"{len(os.sched_getaffinity(0))} CPUs ({model[1].strip() if model else platform.machine()}), "
        f"{memory:.0f} GiB, Linux {platform.release().split('-')[0]}",
        "versions": versions(),
        "commit": output("git", "rev-parse", "--short", "HEAD"),
        "load": load(),
    }


def load():
    """Processes that want a CPU, on average over a minute."""
    return round(os.getloadavg()[0], 1)


def versions():
    found = [re.sub(r" \(.*", "", output("rustc", "--version"))]
    with open(os.path.join(ROOT, "bench", "compare", "Cargo.lock"), encoding="utf-8") as file:
        locked = dict(re.findall(r'name = "([^"]+)"\nversion = "([^"]+)"', file.read()))
    found += [f"{name} {locked[name]}" for name in ("kube", "k8s-openapi") if name in locked]
    if shutil.which("go"):
        with open(os.path.join(ROOT, "bench", "compare", "client-go", "go.mod"), encoding="utf-8") as file:
            version = re.search(r"k8s.io/client-go (\S+)", file.read())[1]
        found += [f"client-go {version}", output("go", "env", "GOVERSION")]
    return found


def output(*command):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
