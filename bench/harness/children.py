"""Processes that end with us, however we end."""

import ctypes
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1


class Failed(Exception):
    """A child failed, or took too long."""


class Children:
    """Starts processes. Leaving the context kills those that are left, each by its own id."""

    def __init__(self):
        self.alive = []
        # Loaded here: after a fork it would be too late.
        self.libc = ctypes.CDLL(None) if sys.platform == "linux" else None

    def __enter__(self):
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: sys.exit(130))
        return self

    def __exit__(self, *_):
        for child in self.alive:
            child.kill()
        for child in self.alive:
            child.wait()
        self.alive = []

    def start(self, command, **options):
        child = subprocess.Popen(command, text=True, preexec_fn=self.end_with_us, **options)
        self.alive.append(child)
        return child

    def end_with_us(self):
        # Even a SIGKILL of ours ends them.
        if self.libc:
            self.libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)

    def stop(self, child):
        """Ends a child by closing its input, or else by a signal."""
        if child.stdin:
            child.stdin.close()
        try:
            child.wait(timeout=5)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        self.alive.remove(child)

    def output(self, command, seconds):
        """Runs a command to its end and returns what it printed."""
        child = self.start(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            printed, said = child.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            _, said = child.communicate()
            raise Failed(f"`{' '.join(command)}` did not end within {seconds} s{quoted(said)}") from None
        finally:
            self.alive.remove(child)
        if child.returncode != 0:
            raise Failed(f"`{' '.join(command)}` ended with {child.returncode}{quoted(said)}")
        return printed


def quoted(said):
    lines = said.strip().splitlines()[-5:]
    return ": " + " / ".join(lines) if lines else ""
