import { CLIENTS, type Client } from "./clients.ts";
import { SERVER_NAME } from "./entry.ts";
import { fileOf, type Machine } from "./places.ts";

/** A running server and a token for it. */
export interface RunningServer {
  readonly url: string;
  readonly token: string;
}

export interface PasteLines {
  /** The client, and the file for the lines. */
  readonly title: string;
  readonly lines: readonly string[];
}

/** The lines that make each client use the server. `octant` is how a person types the command. */
export function pasteLines(server: RunningServer, machine: Machine, octant: string): PasteLines[] {
  return CLIENTS.map((client) => {
    if (client.id === "claude-code") return { title: client.title, lines: [claudeCommand(server)] };
    if (!client.remote)
      return {
        title: `${client.title}, which starts its servers itself`,
        lines: [`${octant} setup ${client.id}`],
      };
    const title = `${client.title}, ${fileOf(client, "user", machine)}`;
    const { url, headers, fixed } = client.remote;
    const fields = { ...fixed, [url]: server.url, [headers]: { Authorization: `Bearer ${server.token}` } };
    return { title, lines: client.format === "toml" ? toToml(client, fields) : [toJson(client, fields)] };
  });
}

const claudeCommand = ({ url, token }: RunningServer) =>
  `claude mcp add --transport http ${SERVER_NAME} ${url} --header "Authorization: Bearer ${token}"`;

type Fields = Readonly<Record<string, string | Readonly<Record<string, string>>>>;

const toJson = ({ servers }: Client, fields: Fields): string =>
  JSON.stringify(
    [...servers, SERVER_NAME].reduceRight<object>((inside, name) => ({ [name]: inside }), fields),
  );

const toToml = ({ servers }: Client, fields: Fields): string[] => [
  `[${[...servers, SERVER_NAME].join(".")}]`,
  ...Object.entries(fields).map(([name, value]) => `${name} = ${toTomlValue(value)}`),
];

/** JSON strings are valid TOML strings. */
function toTomlValue(value: Fields[string]): string {
  if (typeof value === "string") return JSON.stringify(value);
  const pairs = Object.entries(value).map(([name, text]) => `${name} = ${JSON.stringify(text)}`);
  return `{ ${pairs.join(", ")} }`;
}
