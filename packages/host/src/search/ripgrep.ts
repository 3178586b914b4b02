import { ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import { fromNative, type Path } from "../path.ts";
import { createLineSplitter } from "./ripgrep-lines.ts";
import { type Message, parseMessage } from "./ripgrep-messages.ts";
import { type RipgrepRun, ripgrepMissing, runRipgrep } from "./ripgrep-process.ts";

export interface TextPattern {
  /** In the syntax of Rust's regex crate, which takes linear time whatever the pattern. */
  readonly pattern: string;
  readonly fixed?: boolean;
  readonly case?: "smart" | "sensitive" | "insensitive";
  readonly word?: boolean;
  readonly multiline?: boolean;
  readonly maxPerFile?: number;
}

export interface FileFilter {
  /** As ripgrep's --glob takes them: from the searched folder on, `!` excludes, the last that matches wins. */
  readonly globs?: readonly string[];
  readonly includeIgnored?: boolean;
}

/** "path" gives a file after the other in the order of comparePaths, on one core; "any" uses all cores. */
export type Order = "path" | "any";

/** ripgrep on the workspace. Leaving a loop early, or aborting the signal, kills the process behind it. */
export interface Ripgrep {
  /** Its version and where it is; UNSUPPORTED when it is not installed. */
  version(): Promise<{ readonly version: string; readonly program: string }>;
  searchFolder(
    folder: Path,
    pattern: TextPattern,
    options: FileFilter & {
      readonly order: Order;
      readonly signal: AbortSignal;
      /** Called when an index has selected the files. */
      readonly onIndexed?: () => void;
    },
  ): AsyncIterable<readonly Message[]>;
  /** The same for some locations below the folder: files by name, and direct entries of folders. */
  searchPlaces(
    folder: Path,
    pattern: TextPattern,
    places: { readonly files: readonly Path[]; readonly folders: readonly Path[] },
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<readonly Message[]>;
  searchFile(
    file: Path,
    pattern: TextPattern,
    options: { readonly signal: AbortSignal },
  ): AsyncIterable<readonly Message[]>;
  /** The regular files below a folder, in the order of comparePaths, as ripgrep would search them. */
  files(
    folder: Path,
    options: FileFilter & { readonly maxDepth?: number; readonly signal: AbortSignal },
  ): AsyncIterable<readonly Path[]>;
}

export function createRipgrep({
  confinement,
  env = process.env,
  locate = locateBundled,
}: {
  readonly confinement: Confinement;
  readonly env?: NodeJS.ProcessEnv;
  readonly locate?: () => Promise<string>;
}): Ripgrep {
  return {
    async version() {
      const program = await locate();
      const args = ["--no-config", "--version"];
      let text = "";
      for await (const chunk of runRipgrep({ program, args, env, signal: NEVER })) text += chunk;
      return { version: /^ripgrep (\S+)/.exec(text)?.[1] ?? "unknown", program };
    },

    async *searchFolder(path, pattern, { order, signal, onIndexed: _never, ...filter }) {
      const program = await locate();
      const args = [...SEARCH, ...patternArguments(pattern), ...filterArguments(filter), ...ORDERS[order]];
      using folder = confinement.openFolder(path);
      const run = { program, args: [...args, "--", "."], cwd: folder.at(".").toString(), env, signal };
      for await (const messages of readMessages(run)) yield messages.map((one) => below(folder.path, one));
    },

    async *searchPlaces(path, pattern, places, { signal }) {
      const program = await locate();
      using folder = confinement.openFolder(path);
      const names = [...places.files, ...places.folders].map((name) => nameFrom(folder.path, name));
      // Even without a location, ripgrep validates the pattern.
      const at = names.length > 0 ? names : ["-"];
      const args = [
        ...SEARCH,
        ...patternArguments(pattern),
        ...filterArguments({}),
        "--max-depth=1",
        "--",
        ...at,
      ];
      const run = { program, args, cwd: folder.at(".").toString(), env, signal };
      for await (const messages of readMessages(run)) yield messages.map((one) => below(folder.path, one));
    },

    async *searchFile(path, pattern, { signal }) {
      const program = await locate();
      using file = confinement.openFile(path);
      if (pattern.multiline && file.stat.size > MAX_MULTILINE_BYTES) throw tooLarge(file.stat.size);
      const args = [...SEARCH, ...patternArguments(pattern), "--", "-"];
      for await (const messages of readMessages({ program, args, cwd: "/", env, stdin: file.fd, signal }))
        yield messages.map((one) => (one.kind === "begin" ? { ...one, path: file.path } : one));
    },

    async *files(path, { maxDepth, signal, ...filter }) {
      const program = await locate();
      using folder = confinement.openFolder(path);
      const depth = maxDepth === undefined ? [] : [`--max-depth=${maxDepth}`];
      const args = [...QUIET, "--files", "--null", ...filterArguments(filter), ...ORDERS.path, ...depth];
      const run = { program, args: [...args, "--", "."], cwd: folder.at(".").toString(), env, signal };
      let rest: Buffer = Buffer.alloc(0);
      for await (const chunk of runRipgrep(run)) {
        const bytes = rest.length ? Buffer.concat([rest, chunk]) : chunk;
        const end = bytes.lastIndexOf(0) + 1;
        rest = bytes.subarray(end);
        if (end) yield splitNames(bytes.subarray(0, end)).map((name) => join(folder.path, name));
      }
    },
  };
}

/** For a match over several lines ripgrep holds the whole file in memory. */
const MAX_MULTILINE_BYTES = 268_435_456;

const tooLarge = (actual: number) =>
  new ToolError("TOO_LARGE", "the file is too large for a multiline search; search it line by line", {
    limit: MAX_MULTILINE_BYTES,
    actual,
  });

const NEVER = new AbortController().signal;

const QUIET = ["--no-config", "--no-messages", "--no-ignore-messages"];
// Memory-mapped files make ripgrep crash when they shrink, and find other binary files than read ones.
const SEARCH = [...QUIET, "--json", "--no-mmap"];
const ORDERS = { path: ["--sort=path"], any: [] } as const satisfies Record<Order, readonly string[]>;
const CASES = { smart: "--smart-case", sensitive: "--case-sensitive", insensitive: "--ignore-case" } as const;

/** Every value is bound to its flag, so that none can pass for a flag of its own. */
function patternArguments({ pattern, fixed, word, multiline, maxPerFile, ...how }: TextPattern): string[] {
  refuseUnfit("pattern", pattern);
  return [
    `--regexp=${pattern}`,
    // With --crlf, $ also finds the end of lines that end in CR LF. It is the regex engine's business.
    fixed ? "--fixed-strings" : "--crlf",
    CASES[how.case ?? "smart"],
    ...(word ? ["--word-regexp"] : []),
    ...(multiline ? ["--multiline", `--max-filesize=${MAX_MULTILINE_BYTES}`] : []),
    // It counts lines with matches, so it is an upper bound that lets ripgrep leave a file early.
    ...(maxPerFile === undefined ? [] : [`--max-count=${maxPerFile}`]),
  ];
}

/** The last glob wins, so that no other can bring .git back. */
function filterArguments({ globs = [], includeIgnored }: FileFilter): string[] {
  for (const glob of globs) refuseUnfit("glob", glob);
  return [
    "--hidden",
    ...(includeIgnored ? ["--no-ignore"] : []),
    ...[...globs, "!.git"].map((glob) => `--glob=${glob}`),
  ];
}

/** What cannot be an argument of a process, or would become another text on the way. */
function refuseUnfit(path: string, value: string): void {
  if (!value.includes("\0") && value.isWellFormed()) return;
  const message = `${path} holds a NUL or half a character; write a NUL as \\x00`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path, message }] });
}

async function* readMessages(run: RipgrepRun): AsyncGenerator<Message[], void> {
  const split = createLineSplitter();
  for await (const chunk of runRipgrep(run)) {
    const messages = split(chunk).map(parseMessage);
    yield messages.filter((message) => message !== undefined);
  }
}

const below = (folder: Path, message: Message): Message =>
  message.kind === "begin" ? { ...message, path: join(folder, message.path) } : message;

/** ripgrep prints paths relative to its working folder: ./src/main.ts */
const join = (folder: Path, name: Path): Path =>
  `${folder === "/" ? "" : folder}/${name.startsWith("./") ? name.slice(2) : name}`;

/** The other way round. */
const nameFrom = (folder: Path, path: Path): string =>
  path === folder ? "." : `./${path.slice(folder === "/" ? 1 : folder.length + 1)}`;

function splitNames(bytes: Buffer): Path[] {
  const names: Path[] = [];
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(0, from);
    names.push(fromNative(bytes.subarray(from, end)));
    from = end + 1;
  }
  return names;
}

async function locateBundled(): Promise<string> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    return rgPath;
  } catch (cause) {
    throw ripgrepMissing(cause);
  }
}
