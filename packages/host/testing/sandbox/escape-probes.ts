import { ESCAPED, type Probe } from "./probe.ts";

const sh = (name: string, attempt: string, without: Probe["without"] = "anybody"): Probe => ({
  name,
  run: "sh",
  without,
  script: `{ ${attempt}; } && echo ${ESCAPED}`,
});

const python = (name: string, attempt: string, without: Probe["without"] = "anybody"): Probe => ({
  name,
  run: "python3",
  without,
  script: `${PRELUDE}\n${attempt}\nprint("${ESCAPED}")`,
});

const PRELUDE = `
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
arm = os.uname().machine == "aarch64"
def call(x64, arm64, *args):
    result = libc.syscall(arm64 if arm else x64, *(ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args))
    if result < 0: raise OSError(ctypes.get_errno(), "refused")
    return result
def pids(): return [int(name) for name in os.listdir("/proc") if name.isdigit()]
def victims():
    for pid in pids():
        try:
            if os.environ["VICTIM_NAME"] in open(f"/proc/{pid}/cmdline").read(): yield pid
        except OSError: pass
out, ws, home = os.environ["OUTSIDE"], os.environ["WS"], os.environ["HOME"]
`;

function writing(): Probe[] {
  return [
    sh("writes outside by its path", 'echo x >"$OUTSIDE/by-path"'),
    sh("writes outside by ..", 'echo x >"$WS/../outside/by-dots"'),
    sh("writes outside through a link", 'ln -sfn "$OUTSIDE" way-out && echo x >way-out/by-link'),
    sh("writes outside through a hard link", 'ln -f "$OUTSIDE/file" hard && echo x >>hard'),
    sh("moves a file outside", 'echo x >mine && mv mine "$OUTSIDE/moved"'),
    sh("moves a file in from outside", 'mv "$OUTSIDE/take-me" taken && [ ! -e "$OUTSIDE/take-me" ]'),
    sh("removes a file outside", 'rm "$OUTSIDE/remove-me"'),
    sh("changes the mode of a file outside", 'chmod 0777 "$OUTSIDE/file"'),
    sh("writes through /proc/self/root", 'echo x >"/proc/self/root$OUTSIDE/by-self-root"'),
    sh("writes through /proc/1/root", 'echo x >"/proc/1/root$OUTSIDE/by-init-root"', "not shown"),
    python(
      "writes through the folder of another process",
      'open(f"/proc/{next(victims())}/cwd/by-cwd", "w")',
    ),
    python(
      "writes through an open file of another process",
      `
held = os.stat(f"{out}/held").st_ino
fds = [f"/proc/{pid}/fd/{fd}" for pid in victims() for fd in os.listdir(f"/proc/{pid}/fd")]
mine = [fd for fd in fds if os.stat(fd).st_ino == held]
open(mine[0], "w").write("x")`,
    ),
    python(
      "writes outside from an open folder",
      'os.open("../outside/by-dir-fd", os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=os.open(ws, os.O_RDONLY))',
    ),
    {
      name: "writes outside from node",
      run: "node",
      without: "anybody",
      script: `require("fs").cpSync(process.env.WS + "/README", process.env.OUTSIDE + "/by-node"); console.log("${ESCAPED}")`,
    },
    sh("writes to the state of Octant", 'echo x >"$STATE/planted"'),
    sh("reads the secret of Octant", 'test -s "$STATE/secret"'),
    sh(
      "writes what Octant has compiled",
      'mkdir -p "$HOME/.cache/octant" && echo x >"$HOME/.cache/octant/planted"',
    ),
    {
      name: "has the launcher load a library",
      run: "sh",
      without: "anybody",
      env: { LD_PRELOAD: "$WS/evil.so" },
      script: `[ -e "$OUTSIDE/by-library" ] && echo ${ESCAPED}`,
    },
    {
      name: "has the launcher call a function",
      run: "sh",
      without: "not shown",
      env: {
        "BASH_FUNC_ulimit%%": '() { echo x >"$OUTSIDE/by-function"; }',
        ENV: "$WS/evil.sh",
        BASH_ENV: "$WS/evil.sh",
      },
      script: `[ -e "$OUTSIDE/by-function" ] && echo ${ESCAPED}`,
    },
  ];
}

function processes(): Probe[] {
  return [
    python(
      "attaches to another process",
      "victim = next(victims()); call(101, 117, 16, victim, 0, 0); os.waitpid(victim, 0x40000000); call(101, 117, 17, victim, 0, 0)",
    ),
    python(
      "reads the memory of another process",
      `
victim = next(victims())
start, end = (int(part, 16) for part in open(f"/proc/{victim}/maps").readline().split()[0].split("-"))
class Vector(ctypes.Structure): _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]
buffer = ctypes.create_string_buffer(16)
call(310, 270, victim, ctypes.byref(Vector(ctypes.addressof(buffer), 16)), 1, ctypes.byref(Vector(start, 16)), 1, 0)`,
    ),
    sh("signals another process", 'kill -USR1 "$VICTIM"'),
    sh("signals all processes", 'kill -USR1 -1; [ -e "$OUTSIDE/signalled" ]', "not shown"),
    sh("reads the environment of another process", "grep -aqs CANARY_OF_VICTIM /proc/[0-9]*/environ"),
    sh(
      "reads the environment of the server",
      'grep -aqs CANARY_OF_SERVER /proc/1/environ "/proc/$PPID/environ" /proc/[0-9]*/environ',
    ),
    python(
      "writes into the first process",
      `
stack = next(line for line in open("/proc/1/maps") if "[stack]" in line)
memory = open("/proc/1/mem", "r+b", buffering=0)
memory.seek(int(stack.split("-")[0], 16))
memory.write(memory.read(0) + b"x")`,
      "not shown",
    ),
  ];
}

/** Leaves a process behind; whether it lives on is for the test to see. */
export const LEAVER: Probe = {
  name: "leaves a process running",
  run: "sh",
  without: "not shown",
  script: `setsid sleep ${"$SURVIVOR"} >/dev/null 2>&1 & true`,
};

function sockets(): Probe[] {
  const unix = (name: string, address: string, without: Probe["without"] = "anybody") =>
    python(name, `socket.socket(socket.AF_UNIX).connect(${address})`, without);
  const off = (probe: Probe): Probe => ({ ...probe, network: "off" });
  return [
    unix("reaches a socket in /tmp", 'os.environ["TMP_SOCKET"]'),
    unix("reaches a socket in /run", 'os.environ["RUN_SOCKET"]', "root"),
    unix("reaches the socket of an engine in the home", 'os.environ["HOME_SOCKET"]'),
    off(unix("reaches an abstract socket with the network off", '"\\0" + os.environ["ABSTRACT"]')),
    off(
      python(
        "connects by TCP with the network off",
        'socket.create_connection(("127.0.0.1", int(os.environ["TCP"])), 3)',
      ),
    ),
    off(
      python(
        "sends by UDP with the network off",
        's = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(1); s.sendto(b"x", ("127.0.0.1", int(os.environ["UDP"]))); s.recv(1)',
      ),
    ),
    off(
      python(
        "sees a device of the network that is off",
        'assert len(os.listdir("/sys/class/net")) > 0 and socket.if_nameindex()[1:]',
        "not shown",
      ),
    ),
    python("opens the way to the host of this machine", "socket.socket(40, socket.SOCK_STREAM)", "not shown"),
  ];
}

function kernel(): Probe[] {
  return [
    sh("mounts", "mkdir -p m && mount -t tmpfs tmpfs m && umount m", "root"),
    sh("makes the root writable again", "mount -o remount,bind,rw /", "root"),
    sh(
      "takes a mask away",
      'umount -l "$HOME/.cache/octant" || umount -l "$HOME" || umount -l /tmp',
      "not shown",
    ),
    python("makes a mount by the new calls", 'call(430, 430, b"tmpfs", 0)', "root"),
    sh("makes a user namespace", "unshare -U true"),
    python(
      "makes a user namespace by clone",
      "pid = call(56, 220, 0x10000000 | 17, 0, 0, 0, 0)\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)",
    ),
    python(
      "makes a user namespace by clone3",
      "args = (ctypes.c_uint64 * 8)(0x10000000, 0, 0, 0, 17, 0, 0, 0)\npid = call(435, 435, args, 64)\nif pid == 0: os._exit(0)\nos.waitpid(pid, 0)",
    ),
    python(
      "enters the namespace of another process",
      'call(308, 268, os.open(f"/proc/{next(victims())}/ns/mnt", os.O_RDONLY), 0)',
      "root",
    ),
    sh(
      "becomes root by a setuid program",
      '[ "$(id -u)" != 0 ] || drop="setpriv --reuid 65534 --clear-groups"; [ "$($drop "$OUTSIDE/setuid-id" -u)" = 0 ]',
    ),
    python("changes its root", 'os.chroot("/")', "root"),
    sh("makes a device", "mknod disk b 254 0 && rm disk", "root"),
    python(
      "opens a file by its number",
      `
class Handle(ctypes.Structure): _fields_ = [("bytes", ctypes.c_uint), ("type", ctypes.c_int), ("data", ctypes.c_char * 128)]
handle, mount = Handle(128), ctypes.c_int()
call(303, 264, -100, f"{ws}/README".encode(), ctypes.byref(handle), ctypes.byref(mount), 0)
call(304, 265, os.open(ws, os.O_RDONLY), ctypes.byref(handle), 0)`,
      "root",
    ),
    sh(
      "changes a setting of the kernel",
      'v=$(cat /proc/sys/vm/swappiness); echo "$v" >/proc/sys/vm/swappiness',
      "root",
    ),
    sh(
      "changes what handles a crash",
      'v=$(cat /proc/sys/kernel/core_pattern); echo "$v" >/proc/sys/kernel/core_pattern',
      "root",
    ),
    sh(
      "makes a control group",
      'for g in /sys/fs/cgroup/pids /sys/fs/cgroup/unified /sys/fs/cgroup; do mkdir "$g/octant-probe" 2>/dev/null && rmdir "$g/octant-probe" && made=1; done; [ "$made" = 1 ]',
      "root",
    ),
    python(
      "loads a module",
      'import errno\ntry: call(175, 105, b"", 0, b"")\nexcept OSError as e:\n  if e.errno in (errno.EPERM, errno.ENOSYS): raise',
      "not shown",
    ),
    python(
      "types into a terminal",
      'import fcntl, pty, termios\nmaster, slave = pty.openpty()\nos.setsid() if os.getsid(0) != os.getpid() else None\nfcntl.ioctl(slave, termios.TIOCSCTTY, 0)\nfcntl.ioctl(slave, termios.TIOCSTI, b"x")',
      "not shown",
    ),
    python("adds a key", 'call(248, 217, b"user", b"octant-probe", b"x", 1, -2)', "not shown"),
    python("loads a BPF program", "call(321, 280, 0, ctypes.create_string_buffer(128), 128)", "not shown"),
    python("opens an I/O ring", "call(425, 425, 1, ctypes.create_string_buffer(256))", "not shown"),
    python("reads the log of the kernel", "call(103, 116, 10, 0, 0)", "not shown"),
    sh(
      "reads a disk",
      "dd if=/dev/vda of=/dev/null bs=512 count=1 || dd if=/dev/sda of=/dev/null bs=512 count=1",
      "not shown",
    ),
  ];
}

/** Paths in the home where a test has placed a secret before the sandbox was created. */
export const CREDENTIALS = [
  ...[
    ".ssh/id_ed25519",
    ".gnupg/private-keys-v1.d/key",
    ".aws/credentials",
    ".azure/tokens.json",
    ".kube/config",
  ],
  ...[
    ".config/gcloud/credentials.db",
    ".config/gh/hosts.yml",
    ".config/hanzo/settings.json",
    ".docker/config.json",
  ],
  ...[
    ".netrc",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".gem/credentials",
  ],
  ...[
    ".terraform.d/credentials.tfrc.json",
    ".vault-token",
    ".password-store/a.gpg",
    ".local/share/keyrings/login",
  ],
  ...[".mozilla/firefox/logins.json", ".config/google-chrome/Cookies", ".bash_history", ".Xauthority"],
  ...[
    ".claude.json",
    ".claude/.credentials.json",
    ".codex/auth.json",
    ".gemini/oauth.json",
    ".unknown-service/token",
  ],
  ...["server.pem", ".gradle/gradle.properties", ".cache/huggingface/token"],
] as const;

/** And where one puts a secret while a command runs. */
export const LATER_CREDENTIALS = [
  ".aws/later",
  ".ssh/later",
  ".config/gh/later",
  ".cargo/credentials",
  ".later-token",
] as const;

function credentials(): Probe[] {
  return [
    ...CREDENTIALS.map((path) => sh(`reads ~/${path}`, `grep -q CANARY_OF_HOME "$HOME/${path}"`)),
    sh("reads any secret of the home", 'grep -rqs CANARY_OF_HOME "$HOME"'),
    sh("reads the passwords of the machine", "grep -q root: /etc/shadow", "root"),
    sh("reads the home of somebody else", 'grep -rqs CANARY_OF_OTHERS "$OTHER_HOME"', "root"),
  ];
}

function protectedPaths(): Probe[] {
  return [
    sh("plants a hook of git", "echo 'echo x' >.git/hooks/pre-commit"),
    sh("changes the configuration of git", "echo '[core] fsmonitor = evil' >>.git/config"),
    sh("replaces the configuration of git", "cp .git/config new && mv -f new .git/config"),
    sh("moves the repository away", "mv .git .gone && mv .gone .git"),
    sh("moves the hooks away", "mv .git/hooks .git/gone && mv .git/gone .git/hooks"),
    sh("changes settings of the agent", 'echo "{}" >.hanzo/settings.json'),
    sh("moves settings of the agent away", "mv .hanzo gone && mv gone .hanzo"),
    sh("replaces the servers of the agent", 'echo "{}" >new && mv -f new .mcp.json'),
    sh("changes tasks of the editor", 'echo "{}" >.vscode/tasks.json'),
  ];
}

/**
 * The world has: $WS, the workspace; $OUTSIDE, a folder that the user may write to, with `file`, `held` and `setuid-id`;
 * $VICTIM, a process of the same user in $OUTSIDE that holds `held` open and has CANARY in its environment; sockets at
 * $TMP_SOCKET, $RUN_SOCKET, $HOME_SOCKET and @$ABSTRACT; $TCP and $UDP ports of this machine.
 */
export const ESCAPE_PROBES: readonly Probe[] = [
  ...writing(),
  ...processes(),
  ...sockets(),
  ...kernel(),
  ...credentials(),
  ...protectedPaths(),
];
