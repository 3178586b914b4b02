import { dirname } from "node:path/posix";
import { type Registry, ToolError } from "@octant/core";
import type { CallFor, CompletionSource, FeatureContext } from "./calls.ts";

/** Branches and tags, best first. */
export type FindRefs = (ctx: FeatureContext) => Promise<readonly string[]>;

export interface CompletionParts {
  readonly registry: Registry;
  readonly call: CallFor;
  /** The URI of the first root of the workspace. */
  readonly root: string;
  readonly refs?: FindRefs;
}

const MAX_COMMITS = 20;
const MAX_SYMBOLS = 100;

type Request = Parameters<CompletionSource>[0];
type Complete = (request: Request, ctx: FeatureContext) => Promise<readonly string[]> | readonly string[];

/** Completes the arguments of prompts and the variables of templates, by argument name. */
export function createCompletions(parts: CompletionParts): CompletionSource {
  const { registry, call, root, refs } = parts;
  const namesOf = (tool: string) => Object.keys(registry.get(tool)?.actions ?? {});
  const has = (tool: string, action: string) => namesOf(tool).includes(action);

  /** In a prompt a path is relative to the root; in a template it follows `file:///`. */
  const completePath: Complete = async ({ of, value }, ctx) => {
    const rootUri = `${root}/`;
    const base = "template" in of ? "file:///" : rootUri;
    const folder = value.endsWith("/") ? value : dirname(value);
    const uri = folder === "." ? base : `${base}${folder}`;
    // A half-typed path may not exist.
    const entries = await call(ctx, "fs", "list", { uri }).then(({ data }) => data.entries, noneIfRefused);
    const uris = entries.map(({ uri, kind }) => (kind === "directory" ? `${uri}/` : uri));
    return [...uris, rootUri].flatMap((uri) =>
      uri.startsWith(base) && uri !== base ? [uri.slice(base.length)] : [],
    );
  };
  /** vcs.log is called first: a client without access to the history must not see its names either. */
  const completeRef: Complete = async (_request, ctx) => {
    if (!has("vcs", "log")) return [];
    const complete = async () => {
      const { commits } = (await call(ctx, "vcs", "log", { limit: MAX_COMMITS })).data;
      return [...((await refs?.(ctx)) ?? []), ...commits.map(({ hash }) => hash)];
    };
    return complete().catch(noneIfRefused);
  };
  const completeSymbol: Complete = async ({ value: query }, ctx) => {
    if (query === "" || !has("code", "search_symbol")) return [];
    const { results } = (await call(ctx, "code", "search_symbol", { query, limit: MAX_SYMBOLS })).data;
    return [...new Set(results.map(({ name }) => name))];
  };
  const completeJob: Complete = async (_request, ctx) =>
    has("job", "list") ? (await call(ctx, "job", "list", {})).data.jobs.map(({ job_id }) => job_id) : [];
  const completeProcess: Complete = async (_request, ctx) =>
    has("proc", "ps") ? (await call(ctx, "proc", "ps", {})).data.processes.map(({ proc_id }) => proc_id) : [];

  const byName: Readonly<Record<string, Complete>> = {
    path: completePath,
    symbol: completeSymbol,
    tool: () => registry.names(),
    action: ({ others }) => namesOf(others["tool"] ?? ""),
    ref: completeRef,
    job_id: completeJob,
    proc_id: completeProcess,
  };
  return async (request, ctx) => {
    const complete = Object.hasOwn(byName, request.argument) ? byName[request.argument] : undefined;
    const values = (await complete?.(request, ctx)) ?? [];
    return values.filter((value) => value.startsWith(request.value));
  };
}

function noneIfRefused(cause: unknown): never[] {
  if (cause instanceof ToolError) return [];
  throw cause;
}
