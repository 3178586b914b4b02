import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ToolError } from "@octant/core";
import { createProxy, forwarderArgs, forwarderFile, proxyVariables } from "@octant/host";
import type { ContainerSpec } from "../engines/engine.ts";
import type { InstallInContainer } from "../install.ts";
import type { Project } from "../projects/project.ts";

type HttpProxy = Awaited<ReturnType<typeof createProxy>>;

export interface ProxiesOptions {
  readonly folder: string;
  readonly install: Pick<InstallInContainer, "node">;
}

export type Proxies = ReturnType<typeof createProxies>;

const SOCKET_FOLDER = "/run/octant-proxy";
const FORWARDER = "/opt/octant-forwarder";
const ID_CHARS = 16;
/** The longest path of a socket. */
const MAX_SOCKET_BYTES = 107;

/** The way out of containers whose network is `allow`: a proxy in the hub for each project, on a socket. */
export function createProxies({ folder, install }: ProxiesOptions) {
  const open = new Map<string, { readonly hosts: string; readonly proxy: HttpProxy }>();
  const placeOf = ({ id }: Pick<Project, "id">) => join(folder, id.slice(-ID_CHARS));
  const shut = async (project_id: string) => {
    await open.get(project_id)?.proxy.close();
    open.delete(project_id);
  };
  const close = async (project_id: string) => {
    await shut(project_id);
    rmSync(placeOf({ id: project_id }), { recursive: true, force: true });
  };
  return {
    /** Makes the proxy follow the project's settings. It has to be there before a command in the container. */
    async update(project: Project): Promise<void> {
      const { network, allow_hosts } = project.limits;
      const hosts = network === "allow" ? allow_hosts.toSorted().join(" ") : undefined;
      const place = placeOf(project);
      // A container that was created with other settings mounts this folder, so it stays while the container does.
      mkdirSync(place, { recursive: true, mode: 0o755 });
      if (open.get(project.id)?.hosts === hosts) return;
      await shut(project.id);
      const socket = join(place, "socket");
      // That of a killed hub.
      rmSync(socket, { force: true });
      if (hosts === undefined) return;
      if (Buffer.byteLength(socket) > MAX_SOCKET_BYTES)
        throw new ToolError("UNSUPPORTED", `the path of the socket is too long: ${socket}`, {
          what: "the network 'allow' with this folder",
          how: "use a folder with a shorter path: octant hub --folder DIR",
        });
      open.set(project.id, { hosts, proxy: await createProxy(allow_hosts, { socket }) });
    },
    /** The mounts and variables with which a container reaches its proxy; undefined when it needs none. */
    specOf(project: Project): Pick<ContainerSpec, "mounts" | "env" | "forwarder"> | undefined {
      if (project.limits.network !== "allow") return undefined;
      const file = forwarderFile();
      const inside = FORWARDER + file.slice(file.lastIndexOf("."));
      return {
        mounts: [
          { source: placeOf(project), target: SOCKET_FOLDER, readOnly: true },
          { source: file, target: inside, readOnly: true },
        ],
        env: proxyVariables(),
        forwarder: [install.node, ...forwarderArgs(inside, `${SOCKET_FOLDER}/socket`)],
      };
    },
    close,
    /** The socket is another hub's by now; closing ours would remove it. */
    forget: (project_id: string) => void open.delete(project_id),
    async closeAll(): Promise<void> {
      for (const project_id of [...open.keys()]) await close(project_id);
    },
  };
}
