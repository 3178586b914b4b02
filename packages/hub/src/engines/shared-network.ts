import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { createInterface } from "node:readline";
import { ToolError } from "@octant/core";
import { findTrusted, startTrusted, type TrustedProgram } from "@octant/host";

/** The network that all commands of a container of the local engine share: only its loopback device. */
export interface SharedNetwork {
  /** Starts the command behind it in this network. */
  readonly enter: readonly string[];
  close(): void;
}

/** Without a process namespace of its own, its number is the one that we see. */
const REPORT_PID = "echo $$; read _";

/** Open descriptors keep a namespace alive, so it needs no process. The kernel drops it with the hub. */
export async function createSharedNetwork(bubblewrap: TrustedProgram): Promise<SharedNetwork> {
  const nsenter = findTrusted("nsenter");
  const shell = findTrusted("sh");
  if (!nsenter || !shell)
    throw new ToolError("UNSUPPORTED", "the local engine needs nsenter, which is not installed", {
      what: "containers of the local engine",
      how: "install util-linux, or use Podman: octant hub --engine podman",
    });
  const isRoot = process.getuid?.() === 0;
  const flags = ["--die-with-parent", "--unshare-net", ...(isRoot ? [] : ["--unshare-user"])];
  const child = startTrusted(bubblewrap, [...flags, "--ro-bind", "/", "/", "--", shell, "-c", REPORT_PID], {
    env: {},
  });
  const closed = once(child, "close");
  const opened: number[] = [];
  const close = () => {
    for (const descriptor of opened) closeSync(descriptor);
  };
  const open = (pid: number, kind: string): string => {
    const descriptor = openSync(`/proc/${pid}/ns/${kind}`, "r");
    opened.push(descriptor);
    return `/proc/${process.pid}/fd/${descriptor}`;
  };
  let problem = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    problem += text;
  });
  try {
    const [line] = await Promise.race([
      once(createInterface({ input: child.stdout }), "line"),
      closed.then(() => []),
    ]);
    if (line === undefined) throw new ToolError("UPSTREAM_ERROR", `bubblewrap failed: ${problem.trim()}`, {});
    const pid = Number(line);
    const net = `--net=${open(pid, "net")}`;
    const user = isRoot ? [] : [`--user=${open(pid, "user")}`, "--preserve-credentials"];
    return { enter: [nsenter, net, ...user, "--"], close };
  } catch (cause) {
    close();
    throw cause;
  } finally {
    child.stdin.end();
    await closed;
  }
}
