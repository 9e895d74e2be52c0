"""A Slurm cluster of one node on this machine, in a folder of its own: munged, slurmctld and slurmd on loopback."""
import os
import pathlib
import shutil
import socket
import subprocess
import time

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
CONFIGURATION = """ClusterName=check
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={daemon}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
SlurmdTimeout=15
KillWait=10
MessageTimeout=60
SchedulerParameters=batch_sched_delay=0,sched_interval=2
NodeName=localhost NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP
"""


def missing():
    """Returns why this machine cannot run a cluster; empty if it can."""
    lacking = [name for name in PROGRAMS if not (shutil.which(name) or os.path.exists(f"/usr/sbin/{name}"))]
    if lacking:
        return f"{lacking[0]} is not installed (apt-get install slurm-wlm)"
    return "" if os.geteuid() == 0 else "slurmd needs root"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


class Cluster:
    def __init__(self, folder, processors=2):
        self.folder = pathlib.Path(folder)
        self.processes = {}
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"),
                            "PATH": os.environ["PATH"] + ":/usr/sbin"}
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        (self.folder / "slurm.conf").write_text(CONFIGURATION.format(
            folder=self.folder, controller=free_port(), daemon=free_port(), processors=processors))
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)

    def start(self, name, *command):
        log = open(self.folder / f"{name}.out", "ab")  # pylint: disable=consider-using-with
        self.processes[name] = subprocess.Popen(command, env=self.environment, stdin=subprocess.DEVNULL, stdout=log,
                                                stderr=log)
        log.close()

    def start_all(self):
        self.folder.chmod(0o755)
        self.start("munged", "/usr/sbin/munged", "--foreground", "--force", f"--key-file={self.folder}/munge.key",
                   f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munge.pid",
                   f"--seed-file={self.folder}/munge.seed", f"--log-file={self.folder}/munge.log")
        self.wait_for(lambda: (self.folder / "munge.socket").exists(), "munged")
        self.start("slurmctld", "/usr/sbin/slurmctld", "-D", "-c", "-f", self.folder / "slurm.conf")
        self.start_node()
        self.wait_for(lambda: "idle" in self.ask("sinfo", "-h", "-o", "%t", check=False), "the node")

    def start_node(self):
        self.start("slurmd", "/usr/sbin/slurmd", "-D", "-N", "localhost", "-f", self.folder / "slurm.conf")

    def ask(self, *command, check=True):
        done = subprocess.run(command, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=600, check=False)
        if check and done.returncode != 0:
            raise RuntimeError(f"{command}: {done.stdout}{done.stderr}\n{self.logs()}")
        return done.stdout

    def wait_for(self, condition, what, seconds=600):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                raise RuntimeError(f"{what} did not come in {seconds} s\n{self.logs()}")
            time.sleep(0.2)

    def logs(self):
        return "\n".join(f"== {path.name}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-15:])
                         for path in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")))

    def stop_all(self):
        for name in ("slurmd", "slurmctld", "munged"):
            process = self.processes.get(name)
            if process is None or process.poll() is not None:
                continue
            process.terminate()
            try:
                process.wait(timeout=200)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
