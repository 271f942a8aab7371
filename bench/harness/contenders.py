"""Who is compared, and how they are built."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass, field

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = os.path.abspath(os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target")))
COMPARE = os.path.join(TARGET, "compare")

# The forms of ours, in the order of the tables. A form that `bench-informer` does not know is left out.
OUR_FORMS = (
    "packed", "packed-protobuf", "lean", "lean-protobuf", "typed", "full", "metadata", "received", "received-protobuf",
)

# What everything is divided by.
REFERENCE = "kube-rs"


@dataclass
class Contender:
    """A program that takes the common flags and prints one line of JSON."""

    name: str
    command: list = field(default_factory=list)

    @property
    def is_ours(self):
        return self.name in OUR_FORMS

    @property
    def has_store(self):
        """Those without one only receive, so they cannot say how many pods there were."""
        return not self.name.startswith("received")

    @property
    def needs_real_server(self):
        """The load server has no protobuf, and sends changes, which only a store can count."""
        return self.name.endswith("-protobuf") or not self.has_store


class Missing(Exception):
    """Something that the comparison needs is not there."""


def build(say, only=None, real=False):
    """Builds everything, and returns the contenders. With `only`, those with these names. `real` says whether the
    server is a real one."""
    if not shutil.which("cargo"):
        raise Missing("cargo was not found: install Rust first")
    say("building our client")
    cargo("build", "--release", "--locked", "-p", "informer-bench", "--features", "typed")
    say("building the load server, the client of kube-rs, and the client that only receives")
    manifest = os.path.join("bench", "compare", "Cargo.toml")
    cargo("build", "--release", "--locked", "--manifest-path", manifest, "--target-dir", COMPARE)
    ours = os.path.join(TARGET, "release", "bench-informer")
    contenders = []
    for form in OUR_FORMS:
        if form in known_forms(ours):
            contenders.append(Contender(form, [ours, "--form", form]))
        else:
            say(f"left out: bench-informer does not know the form {form}")
    contenders.append(Contender(REFERENCE, [os.path.join(COMPARE, "release", "bench-kube-rs")]))
    receive = os.path.join(COMPARE, "release", "bench-receive")
    contenders.append(Contender("received-plainly", [receive]))
    contenders.append(Contender("received-plainly-protobuf", [receive, "--protobuf"]))
    go = build_client_go(say)
    if go:
        contenders.append(Contender("client-go", [go]))
        contenders.append(Contender("client-go-protobuf", [go, "--protobuf"]))
    contenders = [contender for contender in contenders if real or not contender.needs_real_server]
    if only:
        unknown = set(only) - {contender.name for contender in contenders}
        if unknown:
            names = ", ".join(contender.name for contender in contenders)
            raise Missing(f"{', '.join(sorted(unknown))}: there are only {names}")
        contenders = [contender for contender in contenders if contender.name in only]
    return contenders


def cargo(*arguments):
    checked(["cargo", *arguments])


def build_client_go(say):
    """The path of the program; None without Go."""
    if not shutil.which("go"):
        say("left out: client-go, because go was not found")
        return None
    say("building the client of client-go")
    program = os.path.join(COMPARE, "bench-client-go")
    folder = os.path.join(ROOT, "bench", "compare", "client-go")
    checked(["go", "build", "-trimpath", "-o", program, "."], folder)
    return program


def checked(command, folder=ROOT):
    """Builds are the only children without a time limit; they show their own progress."""
    if subprocess.run(command, cwd=folder, stdout=sys.stderr, check=False).returncode:
        raise Missing(f"`{' '.join(command)}` failed")


def load_server():
    return os.path.join(COMPARE, "release", "load-server")


def fill():
    return os.path.join(COMPARE, "release", "fill")


def known_forms(program):
    """The values that `--form` takes, as `--help` lists them."""
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    return forms_in(text)


def forms_in(text):
    after = text[text.find("--form"):]
    listed = re.search(r"possible values: ([^\]]*)\]", after)
    if listed:
        return [word.strip() for word in listed[1].split(",")]
    # With a description each, there is one line for each value.
    part = re.split(r"\n\s+--", after, maxsplit=1)[0]
    return re.findall(r"^\s+- ([a-z_-]+):", part, re.MULTILINE)
