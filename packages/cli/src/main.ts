import { type AnyCommand, type Io, print, UsageError } from "./command.ts";
import { loadCommand, loadCommands } from "./commands/index.ts";
import { toOwnWords } from "./other-words.ts";
import { parseCommand } from "./parse-command.ts";

/** The command line: selects the command, runs it, and reports any exception as one line and an exit code. */
export async function main(argv: readonly string[], io: Io = process): Promise<void> {
  io.stdout.on("error", ignoreClosedPipe);
  let withoutProxies = () => {};
  try {
    if (Object.keys(io.env).some((name) => PROXY_VARIABLE.test(name)))
      withoutProxies = await (await import("./proxies.ts")).useProxies(io.env);
    process.exitCode = await run(argv, io);
  } catch (cause) {
    const { showFailure } = await import("./show-answer.ts");
    process.exitCode = showFailure(cause, io);
  } finally {
    withoutProxies();
  }
}

const PROXY_VARIABLE = /^(https?|all)_proxy$/i;

/** A reader such as `head` may close the pipe early. */
function ignoreClosedPipe(cause: NodeJS.ErrnoException): void {
  if (cause.code !== "EPIPE") throw cause;
}

async function run(argv: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = toOwnWords(argv);
  const isTerminal = io.stdin.isTTY && io.stdout.isTTY;
  if (name === "--version" || name === "-v") return print((await import("./version.ts")).loadVersion(), io);
  if (name !== undefined && isHelpFlag(name)) return showOverview(io);
  // Without a command, the flags are those of the conversation.
  if (isTerminal && name === undefined) return run(["chat"], io);
  if (isTerminal && name?.startsWith("--")) return run(["chat", ...argv], io);
  if (name === undefined) return showOverview(io);
  const command = await loadCommand(name);
  const flagsEnd = rest.indexOf("--");
  if (rest.slice(0, flagsEnd < 0 ? rest.length : flagsEnd).some(isHelpFlag))
    return print((await import("./usage.ts")).renderUsage(command, io.stdout.columns), io);
  return command.run(parse(command, rest, io), io);
}

function parse(command: AnyCommand, words: readonly string[], io: Io) {
  try {
    return parseCommand(command, words, io.env);
  } catch (cause) {
    if (cause instanceof UsageError) command.refuse?.(words, cause, io);
    throw cause;
  }
}

const isHelpFlag = (word: string) => word === "--help" || word === "-h";

async function showOverview(io: Io): Promise<number> {
  const { renderOverview } = await import("./usage.ts");
  return print(renderOverview(await loadCommands(), io.stdout.columns), io);
}

if (import.meta.main) await main(process.argv.slice(2));
