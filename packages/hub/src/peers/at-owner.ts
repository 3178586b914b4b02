import type { Caller, Context, Tool } from "@octant/core";
import type { Membership } from "./membership.ts";
import type { Passed } from "./peer-calls.ts";
import type { HubAbout } from "./peers.ts";

export interface AtOwnerOptions {
  readonly ownerOf: Membership["ownerOf"];
  pass(
    to: HubAbout,
    call: { readonly name: string; readonly input: unknown; readonly caller: Caller },
    signal: AbortSignal,
  ): Promise<Passed | undefined>;
}

type RunHere = (input: unknown, ctx: Context) => Promise<Passed | undefined>;

/** Makes actions run in the hub that has their project, whichever hub was called. */
export function createAtOwner({ ownerOf, pass }: AtOwnerOptions) {
  const runs = new Map<string, RunHere>();
  return {
    /** `anywhere`: actions that read only the database, which every hub can. */
    atOwner<T extends Tool>(tool: T, anywhere: readonly string[] = []): T {
      const placed = Object.entries(tool.actions).map(([action, declared]) => {
        const { projectOf } = declared;
        if (!projectOf || anywhere.includes(action)) return [action, declared];
        const name = `${tool.name}.${action}`;
        const ownerFor = async (input: unknown) => {
          const project_id = await projectOf(input);
          return project_id === undefined ? undefined : ownerOf(project_id);
        };
        const run = async (input: unknown, ctx: Context) => {
          for (;;) {
            const owner = await ownerFor(input);
            if (!owner) return declared.run(input, ctx);
            const passed = await pass(owner, { name, input, caller: ctx.caller }, ctx.signal);
            if (passed) return passed.data;
          }
        };
        runs.set(name, async (input, ctx) =>
          (await ownerFor(input)) ? undefined : { data: await declared.run(input, ctx) },
        );
        return [action, { ...declared, run }];
      });
      // The same actions under the same names.
      return { ...tool, actions: Object.fromEntries(placed) } as T;
    },
    /**
     * Runs a call that another hub passed on; undefined when the project has moved meanwhile. Only the hub that was
     * called passes it on again: it knows whether its caller still waits.
     */
    async runHere(
      name: string,
      input: unknown,
      { caller, signal }: { readonly caller: Caller; readonly signal: AbortSignal },
    ): Promise<Passed | undefined> {
      return runs.get(name)?.(input, toContext(caller, signal));
    },
  };
}

/** The context of a call that another hub passed on: it has no stream, and nobody can be asked. */
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
