import { CLIENTS } from "./clients.ts";
import { formatOf, SERVER_NAME } from "./entry.ts";
import { fileOf, type Machine } from "./places.ts";
import { entryPath } from "./plan.ts";

/** A running server and a token for it. */
export interface RunningServer {
  readonly url: string;
  readonly token: string;
}

/**
 * The lines that make each client use the server, with the client and the file in which they belong as the title.
 * `octant` is how a person types the command.
 */
export function pasteLines(server: RunningServer, machine: Machine, octant: string) {
  return CLIENTS.map((client) => {
    if (client.id === "claude-code") return { title: client.title, lines: [claudeCommand(server)] };
    if (!client.remote)
      return {
        title: `${client.title}, which starts its servers itself`,
        lines: [`${octant} setup ${client.id}`],
      };
    const title = `${client.title}, ${fileOf(client, "user", machine)}`;
    const { url, headers } = client.remote;
    const fields = {
      ...(client.types?.running && { type: client.types.running }),
      [url]: server.url,
      [headers]: { Authorization: `Bearer ${server.token}` },
    };
    if (!client.format)
      return { title, lines: [JSON.stringify({ [client.servers]: { [SERVER_NAME]: fields } })] };
    return { title, lines: formatOf(client).set("", entryPath(client), fields).trimEnd().split("\n") };
  });
}

const claudeCommand = ({ url, token }: RunningServer) =>
  `claude mcp add --transport http ${SERVER_NAME} ${url} --header "Authorization: Bearer ${token}"`;
