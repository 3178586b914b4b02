import type { AnyAction, Caller, Context, Tool } from "@octant/core";
import type { Membership } from "./membership.ts";
import type { HubAbout } from "./peers.ts";

export interface AtOwnerOptions {
  readonly ownerOf: Membership["ownerOf"];
  pass(
    to: HubAbout,
    call: { readonly name: string; readonly input: unknown; readonly caller: Caller },
    signal: AbortSignal,
  ): Promise<unknown>;
}

/** Makes actions run in the hub that has their project, whichever hub was called. */
export function createAtOwner({ ownerOf, pass }: AtOwnerOptions) {
  const runs = new Map<string, AnyAction["run"]>();
  return {
    /** `anywhere`: actions that read only the database, which every hub can. */
    atOwner<T extends Tool>(tool: T, anywhere: readonly string[] = []): T {
      const placed = Object.entries(tool.actions).map(([action, declared]) => {
        const { projectOf } = declared;
        if (!projectOf || anywhere.includes(action)) return [action, declared];
        const name = `${tool.name}.${action}`;
        const run = async (input: unknown, ctx: Context) => {
          const project_id = await projectOf(input);
          const owner = project_id === undefined ? undefined : await ownerOf(project_id);
          return owner
            ? pass(owner, { name, input, caller: ctx.caller }, ctx.signal)
            : declared.run(input, ctx);
        };
        runs.set(name, run);
        return [action, { ...declared, run }];
      });
      // The same actions under the same names.
      return { ...tool, actions: Object.fromEntries(placed) } as T;
    },
    /** Runs a call that another hub passed on; passed on again when the project has moved meanwhile. */
    async runHere(
      name: string,
      input: unknown,
      { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
    ): Promise<unknown> {
      return runs.get(name)?.(input, toContext(caller, signal));
    },
  };
}

/** Of a call whose caller is at another hub: it has no stream, and nobody can be asked. */
const toContext = (caller: Caller, signal: AbortSignal): Context => ({
  traceId: "",
  signal,
  caller,
  ask: async () => ({ answer: "unattended" }),
  front: undefined,
  progress() {},
  emit() {},
  detach() {},
  backend() {},
  attach() {},
  upload: undefined,
  send() {},
  hides: () => undefined,
  resume: () => undefined,
  more() {},
});
