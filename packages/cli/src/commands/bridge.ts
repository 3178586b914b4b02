import { once } from "node:events";
import { realpathSync } from "node:fs";
import { modelFlags, toModelOptions } from "../agent/agent-flags.ts";
import { defineCommand, ENDING_SIGNALS, EXIT, print, toCount, toPort, UsageError } from "../command.ts";
import { printJsonText } from "../output.ts";
import { logLine, permissionFlags, rootsOf, workspaceFlags } from "../workspace-flags.ts";

export const bridge = defineCommand({
  name: "bridge",
  summary: "Serve tools and agent to web pages over WebSocket, for owners with a JWT",
  flags: {
    ...workspaceFlags,
    ...permissionFlags,
    jwks: {
      summary: "The keys that sign the tokens: a URL or a file",
      value: "URL",
      env: "OCTANT_BRIDGE_JWKS",
    },
    issuer: { summary: "The iss of the tokens", value: "ISS", env: "OCTANT_BRIDGE_ISSUER" },
    audience: { summary: "The aud of the tokens", value: "AUD", env: "OCTANT_BRIDGE_AUDIENCE" },
    "allow-origin": { summary: "An origin whose pages may connect", value: "ORIGIN", many: true },
    "allow-host": { summary: "A host name that clients may use", value: "NAME", many: true },
    port: { summary: "Default 7310; 0 picks a free port", value: "PORT" },
    host: { summary: "Default 127.0.0.1", value: "ADDRESS" },
    "max-streams": { summary: "Open streams per owner; default 50", value: "N" },
    ...modelFlags,
    json: { summary: "Print the URL as one line of JSON" },
  },
  notes: `/bridge/mcp speaks MCP with the tools, /bridge/agent the Agent Client Protocol with the agent, one JSON-RPC
message per text frame. The claim 'owner' of the token decides whose sessions, jobs and refs a client sees.
docs/bridge.md has the handshake, close codes and limits. For example:
  octant bridge --jwks https://iam.example/jwks --issuer https://iam.example --audience octant \\
    --allow-origin https://app.example`,
  async run({ flags }, io) {
    const token = {
      jwks: required("jwks", flags.jwks),
      issuer: required("issuer", flags.issuer),
      audience: required("audience", flags.audience),
    };
    if (flags["allow-origin"].length === 0)
      throw new UsageError("octant bridge needs --allow-origin", "--allow-origin https://app.example");
    const roots = rootsOf(flags, io).map((root) => realpathSync(root));
    const [{ mountBridge }, { openOctant, toWorkspaceOptions }, { agentEndpoint, mcpEndpoint }] =
      await Promise.all([
        import("@octant/bridge"),
        import("../open-octant.ts"),
        import("../agent/bridge-endpoints.ts"),
      ]);
    const local = { ...flags, root: roots };
    await using octant = await openOctant(local, io, { command: "bridge" });
    const server = await octant.serveHttp({
      host: flags.host,
      port: toPort(flags.port) ?? DEFAULT_PORT,
      allowedHosts: flags["allow-host"],
      allowedOrigins: flags["allow-origin"],
    });
    const maxStreams = toCount("max-streams", flags["max-streams"]);
    mountBridge(server, {
      token,
      allowedOrigins: flags["allow-origin"],
      ...(maxStreams !== undefined && { limits: { maxStreamsPerOwner: maxStreams } }),
      log: (line) => void logLine(line, io),
      endpoints: {
        mcp: mcpEndpoint(octant),
        agent: agentEndpoint({
          ...toWorkspaceOptions(local, io),
          ...toModelOptions(flags),
          cwd: io.cwd(),
        }),
      },
    });
    const ended = ENDING_SIGNALS.map((signal) => once(process, signal));
    const url = new URL("/bridge", server.url.replace(/^http/, "ws")).href;
    const said = `The bridge serves ${roots.join(", ")} at ${url}/mcp and ${url}/agent. Ctrl-C stops it.`;
    if (flags.json) printJsonText(JSON.stringify({ url, roots }), io);
    else print(said, io);
    await Promise.race([...ended, server.closed]);
    await server.close();
    return EXIT.OK;
  },
});

const DEFAULT_PORT = 7310;

function required(name: string, value: string | undefined): string {
  if (value) return value;
  throw new UsageError(`octant bridge needs --${name}`, "octant bridge --help shows an example");
}
