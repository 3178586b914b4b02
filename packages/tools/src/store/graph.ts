import { action, type Context, defineTool, pagingInput } from "@octant/core";
import { Annotation, Connection, DIRECTIONS, Identity, IdentityId, type Workspace } from "@octant/host";
import { z } from "zod";
import { APPLY, INSPECT } from "../kinds.ts";
import { EXAMPLE_IDENTITY, Tag, Target, toTarget } from "./target.ts";

const Kind = z.string().min(1).max(64).describe("For example uses, tests, made_from");
const Name = z.string().min(1).max(256);

const MAX_DEPTH = 16;
const CONTEXT_ROWS = 50;

export const graph = (workspace: Pick<Workspace, "storeOf" | "confinement">) => {
  const graphOf = ({ caller }: Context) => workspace.storeOf(caller.id).graph;
  return defineTool({
    name: "graph",
    summary: "Named identities for files, symbols and artifacts, with tags and connections between them.",
    actions: {
      bind: action({
        ...APPLY,
        summary: "Bind a name to files, symbols or artifacts, creating the identity if needed.",
        input: z.strictObject({ name: Name, targets: z.array(Target).max(64).default([]) }),
        output: z.object({ identity: Identity }),
        errors: ["OUTSIDE_WORKSPACE", "NO_SPACE", "IO_ERROR"],
        examples: [{ title: "The manual is this file", input: { name: "manual", targets: ["README.md"] } }],
        run({ name, targets }, ctx) {
          const bound = targets.map((target) => toTarget(workspace, target));
          return { identity: graphOf(ctx).bind(name, bound, Date.now()) };
        },
      }),
      tag: action({
        ...APPLY,
        summary: "Add and remove tags of an identity.",
        input: z.strictObject({
          identity_id: IdentityId,
          add: z.array(Tag).max(64).default([]),
          remove: z.array(Tag).max(64).default([]),
        }),
        output: z.object({ identity: Identity }),
        errors: ["NOT_FOUND"],
        examples: [
          {
            title: "Tag an identity",
            input: { identity_id: EXAMPLE_IDENTITY, add: ["reviewed"] },
            fails: "NOT_FOUND",
          },
        ],
        run: ({ identity_id, add, remove }, ctx) => ({
          identity: graphOf(ctx).tag(identity_id, add, remove),
        }),
      }),
      connect: action({
        ...APPLY,
        summary: "Connect two identities, or remove a connection.",
        input: z.strictObject({
          from: IdentityId,
          to: IdentityId,
          kind: Kind,
          remove: z.boolean().default(false),
        }),
        output: z.object({
          connection: Connection,
          changed: z.boolean().describe("false: already so"),
        }),
        errors: ["NOT_FOUND"],
        examples: [
          {
            title: "One uses the other",
            input: { from: EXAMPLE_IDENTITY, to: EXAMPLE_IDENTITY, kind: "uses" },
            fails: "NOT_FOUND",
          },
        ],
        run({ remove, ...connection }, ctx) {
          return { connection, changed: graphOf(ctx).connect(connection, remove) };
        },
      }),
      find: action({
        ...INSPECT,
        summary: "Find identities by name, tag or bound target, sorted by name.",
        input: z.strictObject({
          name: Name.optional().describe("Part of the name"),
          tag: Tag.optional(),
          target: Target.optional(),
          ...pagingInput(50, 500),
        }),
        output: z.object({ identities: z.array(Identity) }),
        errors: ["OUTSIDE_WORKSPACE", "INVALID_CURSOR"],
        examples: [{ title: "By tag", input: { tag: "reviewed" } }],
        run({ name, tag, target, limit }, ctx) {
          const about = target === undefined ? undefined : toTarget(workspace, target);
          const after = ctx.resume(Name);
          const found = graphOf(ctx).find({ name, tag, target: about, after, limit: limit + 1 });
          const page = found.slice(0, limit);
          if (found.length > limit) ctx.more(page.at(-1)?.name);
          return { identities: page };
        },
      }),
      query: action({
        ...INSPECT,
        summary: "Find connected identities over several steps, nearest first.",
        input: z.strictObject({
          from: IdentityId,
          kind: Kind.optional().describe("Only over connections of this kind"),
          direction: z.enum(DIRECTIONS).default("out"),
          depth: z.int().min(1).max(MAX_DEPTH).default(3).describe("Maximum steps"),
          limit: z.int().min(1).max(1_000).default(100),
        }),
        output: z.object({
          reached: z.array(z.object({ identity: Identity, distance: z.int() })),
          truncated: z.boolean().describe("More results than limit; narrow the query"),
        }),
        errors: ["NOT_FOUND"],
        examples: [
          { title: "Dependencies", input: { from: EXAMPLE_IDENTITY, kind: "uses" }, fails: "NOT_FOUND" },
        ],
        run({ limit, ...query }, ctx) {
          const found = graphOf(ctx).query({ ...query, limit: limit + 1 });
          return { reached: found.slice(0, limit), truncated: found.length > limit };
        },
      }),
      context: action({
        ...INSPECT,
        summary: "Show everything known about a target: identities, connections and remarks.",
        input: z.strictObject({ target: Target.describe("An identity or a bound target") }),
        output: z.object({
          identities: z.array(Identity),
          connections: z.array(Connection),
          neighbours: z.array(Identity),
          annotations: z.array(Annotation),
          truncated: z
            .boolean()
            .describe(`More than ${CONTEXT_ROWS} of something; graph.query and annotation.list page`),
        }),
        errors: ["NOT_FOUND", "OUTSIDE_WORKSPACE"],
        examples: [{ title: "About a file", input: { target: "README.md" } }],
        run({ target }, { caller }) {
          const { annotations, graph: store } = workspace.storeOf(caller.id);
          const about = toTarget(workspace, target);
          const limit = CONTEXT_ROWS + 1;
          const identities = about.startsWith("identity_")
            ? [store.get(about)]
            : store.find({ target: about, limit });
          const connections = identities.flatMap(({ identity_id }) =>
            store.connectionsOf(identity_id, limit),
          );
          const known = new Set(identities.map(({ identity_id }) => identity_id));
          const near = new Set(
            connections.flatMap(({ from, to }) => [from, to]).filter((id) => !known.has(id)),
          );
          const targets = new Set([
            about,
            ...identities.flatMap(({ identity_id, targets }) => [identity_id, ...targets]),
          ]);
          const remarks = [...targets].flatMap((one) => annotations.list({ target: one, limit }));
          const lists = [identities, connections, [...near], remarks];
          return {
            identities: identities.slice(0, CONTEXT_ROWS),
            connections: connections.slice(0, CONTEXT_ROWS),
            neighbours: [...near].slice(0, CONTEXT_ROWS).map(store.get),
            annotations: remarks.slice(0, CONTEXT_ROWS),
            truncated: lists.some((list) => list.length > CONTEXT_ROWS),
          };
        },
      }),
    },
  });
};
