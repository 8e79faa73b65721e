"""A network of the test's own: the program starts itself again inside fresh namespaces.

Firefox sends nothing to a loopback candidate and gathers no loopback address, so server and browsers share one
network namespace that has a veth pair with an address and a default route. A process namespace goes with it:
when the test ends, by whatever means, the kernel ends every browser in it and removes the interfaces, so
nothing is ever left to clean up.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile

from .report import NOT_PERMITTED

ADDRESS = "10.77.0.1"
_PEER_ADDRESS = "10.77.0.2"
_INSIDE = "BROWSER_TEST_NAMESPACE"


def _unshare():
    # Whatever ends this program ends unshare, and that ends everything inside.
    command = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if os.geteuid() != 0:
        command += ["--user", "--map-root-user"]
    return command


def refusal():
    """Why namespaces can't be made here, or None where they can."""
    for tool in ("setpriv", "unshare", "ip"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    probe = "ip link set lo up && ip link add probe0 type veth peer name probe1"
    try:
        done = subprocess.run(_unshare() + ["sh", "-c", probe], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=20)
    except subprocess.TimeoutExpired:
        return "making a namespace took more than 20 s"
    return None if done.returncode == 0 else f"{NOT_PERMITTED}: {done.stderr.strip()}"


def inside():
    return os.environ.get(_INSIDE) == "1"


def run_inside(argv, seconds):
    """Runs the program again inside new namespaces and answers its exit status; 124 after `seconds`."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what follows is tidied up then too
    # Profiles and logs of the processes inside, which may be killed with no time to remove them.
    with tempfile.TemporaryDirectory(prefix="roost-browsers-", ignore_cleanup_errors=True) as folder:
        child = subprocess.Popen(_unshare() + [sys.executable, *argv], stdin=subprocess.DEVNULL,
                                 env=os.environ | {_INSIDE: "1", "TMPDIR": folder})
        try:
            return child.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            print(f"not finished after {seconds:g} s: ended", flush=True)
            return 124
        finally:
            if child.poll() is None:
                child.kill()
                child.wait()


def configure():
    """Gives the namespace that we run in its interfaces: loopback, a veth pair, an address, a default route."""
    for line in (
        "link set lo up",
        "link add media0 type veth peer name media1",
        f"address add {ADDRESS}/24 dev media0",
        "link set media0 up",
        "link set media1 up",
        f"route add default via {_PEER_ADDRESS} dev media0",
    ):
        subprocess.run(["ip", *line.split()], check=True, timeout=10)
