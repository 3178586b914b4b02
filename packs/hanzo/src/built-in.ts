import { z } from "zod";
import { type Group, type Method, type Operation, pathParameters } from "./operation.ts";

const Id = z.string().min(1).max(200);
const Name = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, "lower-case letters, digits and '-'")
  .describe("Lower-case letters, digits and '-'");
const Day = z.iso.date();
const paging = { limit: z.int().min(1).max(1_000).optional(), cursor: z.string().min(1).optional() };
const Variables = z.record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string());

type Row = readonly [Group, summary: string, `${Method} ${string}`, z.ZodRawShape];

/** Operations for a server that does not describe its own. */
const ROWS: Readonly<Record<string, Row>> = {
  list_models: ["cloud", "The models that can be called.", "get /models", {}],
  get_usage: ["cloud", "Usage and cost by day.", "get /usage", { from: Day.optional(), to: Day.optional() }],
  list_apps: ["cloud", "The apps of the organization.", "get /apps", paging],
  get_app: ["cloud", "An app with its state and address.", "get /apps/{app}", { app: Id }],
  list_deployments: [
    "cloud",
    "The deployments of an app.",
    "get /apps/{app}/deployments",
    { app: Id, ...paging },
  ],
  get_logs: [
    "cloud",
    "The newest lines that an app has logged.",
    "get /apps/{app}/logs",
    { app: Id, lines: z.int().min(1).max(10_000).optional() },
  ],
  list_nodes: ["cloud", "The nodes of the organization.", "get /nodes", paging],
  get_node: ["cloud", "A node with its state.", "get /nodes/{node}", { node: Id }],
  whoami: ["auth", "The person and organization of the sign-in.", "get /user", {}],
  list_organizations: ["auth", "The organizations of the person.", "get /organizations", {}],
  create_app: [
    "deploy",
    "Create an app.",
    "post /apps",
    { name: Name, image: Id, env: Variables.optional(), replicas: z.int().min(0).max(100).optional() },
  ],
  deploy_app: [
    "deploy",
    "Deploy an image to an app.",
    "post /apps/{app}/deployments",
    { app: Id, image: Id, env: Variables.optional() },
  ],
  scale_app: [
    "deploy",
    "Set how many replicas run.",
    "patch /apps/{app}",
    { app: Id, replicas: z.int().min(0).max(100) },
  ],
  roll_back_app: [
    "deploy",
    "Return an app to an earlier deployment.",
    "post /apps/{app}/rollback",
    { app: Id, deployment: Id },
  ],
  delete_app: ["deploy", "Delete an app.", "delete /apps/{app}", { app: Id }],
  create_node: ["node", "Create a node.", "post /nodes", { name: Name, size: Id, region: Id.optional() }],
  start_node: ["node", "Start a node.", "post /nodes/{node}/start", { node: Id }],
  stop_node: ["node", "Stop a node.", "post /nodes/{node}/stop", { node: Id }],
  restart_node: ["node", "Restart a node.", "post /nodes/{node}/restart", { node: Id }],
  delete_node: ["node", "Delete a node.", "delete /nodes/{node}", { node: Id }],
};

export const BUILT_IN: readonly Operation[] = Object.entries(ROWS).map(([name, row]) => {
  const [group, summary, request, shape] = row;
  const [method, path] = request.split(" ") as [Method, string]; // The form of a row.
  const inPath = pathParameters(path);
  const query = method === "get" ? Object.keys(shape).filter((one) => !inPath.includes(one)) : [];
  return { name, group, summary, method, path, query, parameters: z.strictObject(shape) };
});
