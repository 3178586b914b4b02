import { EVENTS_VARIABLE } from "../reporters/node-events.ts";
import { type Invocation, notInstalled, type Plan } from "../runner.ts";

/** The suite's own command followed by our arguments; a script of package.json passes them on. */
export function nodeCommand(plan: Plan, program: string, args: readonly string[]): Invocation {
  const { command } = plan.suite;
  const installed = plan.bin(program);
  // With Plug'n'Play there is no node_modules; the package manager resolves programs.
  if (installed === undefined && plan.nearest(".pnp.cjs") === undefined)
    throw notInstalled(
      program,
      `install the packages first, as in "${command[0] === "npx" ? "npm" : command[0]} install"`,
    );
  return { argv: [...toProgram(plan, program, installed), ...args] };
}

function toProgram(
  { suite: { command }, onPath }: Plan,
  program: string,
  installed: string | undefined,
): [string, ...string[]] {
  const [manager = program, verb] = command;
  if (manager === "npm" && verb === "run") return [manager, ...command.slice(1), "--"];
  // An installed runner is run without the project's package manager, because bun or pnpm may be missing.
  const isScript = verb === "run" && (installed === undefined || onPath(manager));
  // Started directly: npx would download a missing program.
  if (!isScript && installed !== undefined)
    return [installed, ...(verb === "run" ? [] : command.slice(command.indexOf(program) + 1))];
  return [manager, ...command.slice(1)];
}

export const toEventsFile = (scratch: string): string => `${scratch}/events.jsonl`;

export const eventsEnv = (scratch: string) => ({ [EVENTS_VARIABLE]: toEventsFile(scratch) });

const SCRIPT_EXTENSION = /\.(?:[cm]?[jt]s|[jt]sx)$/;

/** `a.test.ts`, `a.spec.js`, `__tests__/a.js`: the convention of most runners. */
export const isScriptTest = (path: string): boolean =>
  SCRIPT_EXTENSION.test(path) && /(?:\.(?:test|spec)\.\w+$|(?:^|\/)__tests__\/)/.test(path);

export const isScript = (path: string): boolean => SCRIPT_EXTENSION.test(path);
