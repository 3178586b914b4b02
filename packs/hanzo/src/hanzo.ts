import { type AnyAction, action, defineTool, type PackContext, ToolError } from "@octant/core";
import { z } from "zod";
import { createCatalog } from "./catalog.ts";
import { GROUPS, type Group, type Operation } from "./operation.ts";
import { PlainRequest, toRequest } from "./request.ts";
import { send } from "./send.ts";
import type { Settings } from "./settings.ts";

const OUTPUT = z.object({
  operations: z
    .array(z.object({ name: z.string(), summary: z.string(), request: z.string(), parameters: z.unknown() }))
    .optional()
    .describe("Without an operation: those that there are"),
  request: PlainRequest.optional().describe("dry_run: what would be sent, without the sign-in"),
  note: z.string().optional(),
  status: z.int().optional(),
  data: z.unknown().optional().describe("The answer of the server"),
});

const EXAMPLES = {
  cloud: { operation: "list_apps", dry_run: true },
  auth: { operation: "whoami", dry_run: true },
  deploy: { operation: "scale_app", parameters: { app: "shop", replicas: 3 }, dry_run: true },
  node: { operation: "restart_node", parameters: { node: "node-1" }, dry_run: true },
} as const satisfies Record<Group, object>;

export function hanzo({ settings, credentials }: PackContext<Settings>) {
  const { base_url } = settings;
  const catalog = createCatalog(settings, credentials);
  const act = (group: Group): AnyAction => {
    const { summary, reads } = GROUPS[group];
    return action({
      summary,
      access: reads ? "read" : "write",
      intent: reads ? "inspect" : "ship",
      timing: "async_medium",
      openWorld: true,
      ...(!reads && { destructive: true }),
      input: z.strictObject({
        operation: z.string().min(1).optional().describe("Without one, the operations are listed"),
        parameters: z.record(z.string(), z.unknown()).default({}).describe("Those of the operation"),
        dry_run: z.boolean().default(false).describe("Return the request, and send nothing"),
      }),
      output: OUTPUT,
      errors: ["NOT_FOUND", "UNAUTHENTICATED", "UPSTREAM_ERROR", "TOO_LARGE", "UNSUPPORTED"],
      examples: [{ title: "Show a request", input: EXAMPLES[group] }],
      async run({ operation: name, parameters, dry_run }, { signal, backend }) {
        const { operations, source, note } = await catalog(signal, dry_run);
        backend(source);
        if (name === undefined)
          return { operations: operations.filter((one) => one.group === group).map(toView) };
        const request = toRequest(base_url, find(operations, name, group), parameters);
        if (dry_run) return { request, note };
        return send(request, credentials, signal);
      },
    });
  };
  return defineTool({
    name: "hanzo",
    summary: "The Hanzo platform: cloud and auth read, deploy and node change.",
    listing: "brief",
    actions: { cloud: act("cloud"), auth: act("auth"), deploy: act("deploy"), node: act("node") },
  });
}

const toView = ({ name, summary, method, path, parameters }: Operation) => ({
  name,
  summary,
  request: `${method.toUpperCase()} ${path}`,
  parameters: z.toJSONSchema(parameters, { io: "input", unrepresentable: "any" }),
});

/** The operation of this group; the message names the right action, or the operations that there are. */
function find(operations: readonly Operation[], name: string, group: Group): Operation {
  const found = operations.find((one) => one.name === name);
  if (found?.group === group) return found;
  const others = operations.filter((one) => one.group === group).map((one) => one.name);
  const message = found
    ? `${name} is an operation of hanzo.${found.group}`
    : `there is no operation '${name}'; hanzo.${group} has ${others.join(", ") || "none"}`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path: "operation", message }] });
}
