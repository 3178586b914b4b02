// The client that the conformance suite starts: Octant's own, with an address as its last argument. It acts like a
// person: signs in where required, again when a call needs more scopes, and calls every tool once.
import {
  createMcpServers,
  createStoredProvider,
  loginAsMachine,
  loginTo,
  type MachineGrant,
  type NamedTool,
  type OAuthData,
} from "@octant/mcp-client";

const url = process.argv.at(-1) ?? "";
const CALL_MS = 15_000;
const MAX_SIGN_INS = 3;
/** Values that a person would have: keys of a registered client, arguments. */
const context = JSON.parse(process.env["MCP_CONFORMANCE_CONTEXT"] ?? "{}");
const hashes = new Map<string, string>();
let data: OAuthData | undefined;
const storage = {
  load: () => data,
  async save(saved: OAuthData) {
    data = saved;
  },
};

const open = () =>
  createMcpServers({
    servers: { server: { url, headers: {} } },
    version: "1.0.0",
    roots: [],
    start: () => Promise.reject(new Error("there are only addresses here")),
    auth: () => createStoredProvider(storage),
    consent: {
      known: (_server, tool) => hashes.get(tool),
      async remember(_server, tools) {
        for (const { tool, hash } of tools) hashes.set(tool, hash);
      },
    },
    elicit: async () => ({ action: "accept", content: {} }),
    log: console.error,
  });

/** The kind of sign-in that the context supports; otherwise a person's in a browser. */
function toGrant(): MachineGrant | undefined {
  const { client_id, client_secret } = context;
  if (context.private_key_pem !== undefined)
    return {
      kind: "private_key",
      client_id,
      private_key: context.private_key_pem,
      algorithm: context.signing_algorithm,
    };
  if (context.valid_jwt !== undefined) return { kind: "workload", client_id, assertion: context.valid_jwt };
  if (context.idp_id_token !== undefined)
    return {
      kind: "enterprise",
      client_id,
      client_secret,
      id_token: context.idp_id_token,
      idp_client_id: context.idp_client_id,
      idp_token_endpoint: context.idp_token_endpoint,
    };
  return /client-credentials/.test(context.name)
    ? { kind: "client_secret", client_id, client_secret }
    : undefined;
}

let signIns = 0;
async function signIn() {
  signIns++;
  const grant = toGrant();
  if (grant) return loginAsMachine({ url, storage, grant });
  let page = "";
  await loginTo({
    url,
    storage,
    redirectUri: "http://127.0.0.1:9/callback",
    state: "state-of-the-test",
    clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    ...(context.client_id !== undefined && {
      client: { client_id: context.client_id, client_secret: context.client_secret },
    }),
    open(at) {
      page = at;
    },
    // The suite's server redirects the browser at once.
    async received() {
      const { headers } = await fetch(page, { redirect: "manual" });
      return new URL(headers.get("location") ?? "");
    },
  });
}

let servers = open();
await servers.settled();
if (servers.status()[0]?.state === "needs_login") {
  await servers.close();
  await signIn();
  servers = open();
  await servers.settled();
}

async function call(name: string, input: Readonly<Record<string, unknown>>): Promise<void> {
  try {
    await servers.call(name, input, { signal: AbortSignal.timeout(CALL_MS) });
  } catch (cause) {
    console.error(`${name}: ${cause}`);
    if (Object(cause).code !== "UNAUTHENTICATED" || signIns >= MAX_SIGN_INS) return;
    await signIn();
    await call(name, input);
  }
}

const VALUES: Readonly<Record<string, unknown>> = {
  number: 2,
  integer: 2,
  boolean: true,
  array: [],
  // The suite expects its listed schema back unchanged.
  object: servers.tools()[0]?.input_schema ?? {},
};
const toInput = ({ input_schema }: NamedTool) =>
  Object.fromEntries(
    Object.entries<{ type?: string }>(Object(input_schema["properties"])).map(
      ([key, { type = "string" }]) => [key, VALUES[type] ?? "x"],
    ),
  );
const given: readonly { name: string; arguments: Record<string, unknown> }[] = context.toolCalls ?? [];
for (const tool of servers.tools())
  await call(tool.name, given.find(({ name }) => name === tool.tool)?.arguments ?? toInput(tool));
await servers.close();
