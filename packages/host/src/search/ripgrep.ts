import { ToolError } from "@octant/core";
import type { Confinement } from "../confinement.ts";
import { splitNul } from "../files/nul-list.ts";
import type { Path } from "../path.ts";
import { createLineSplitter } from "./ripgrep-lines.ts";
import { type Message, parseMessage } from "./ripgrep-messages.ts";
import { ripgrepMissing, runRipgrep } from "./ripgrep-process.ts";

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

export type Ripgrep = ReturnType<typeof createRipgrep>;

/** ripgrep on the workspace. Leaving a loop early, or aborting the signal, kills the process behind it. */
export function createRipgrep({
  confinement,
  env = process.env,
  locate = locateBundled,
}: {
  readonly confinement: Confinement;
  readonly env?: NodeJS.ProcessEnv;
  readonly locate?: () => Promise<string>;
}) {
  /** Runs in a folder, whose path the output starts with. */
  async function* runIn<T>(
    path: Path,
    toArguments: (folder: Path) => readonly string[],
    signal: AbortSignal,
    read: (output: AsyncIterable<Buffer>, folder: Path, hides: Confinement["hides"]) => AsyncIterable<T>,
  ): AsyncGenerator<T, void> {
    const program = await locate();
    using folder = confinement.openFolder(path);
    const args = toArguments(folder.path);
    const output = runRipgrep({ program, args, cwd: folder.at(".").toString(), env, signal });
    yield* read(output, folder.path, confinement.hides);
  }

  return {
    /** Its version and where it is; UNSUPPORTED when it is not installed. */
    async version(): Promise<{ readonly version: string; readonly program: string }> {
      const program = await locate();
      const args = ["--no-config", "--version"];
      let text = "";
      for await (const chunk of runRipgrep({ program, args, env, signal: NEVER })) text += chunk;
      return { version: /^ripgrep (\S+)/.exec(text)?.[1] ?? "unknown", program };
    },

    searchFolder(path: Path, pattern: TextPattern, { order, signal, ...filter }: FolderSearch): Messages {
      const args = [...SEARCH, ...patternArguments(pattern), ...filterArguments(filter), ...ORDERS[order]];
      return runIn(path, () => [...args, "--", "."], signal, readMessages);
    },

    /** The same for some locations below the folder: files by name, and direct entries of folders. */
    searchPlaces(
      path: Path,
      pattern: TextPattern,
      places: { readonly files: readonly Path[]; readonly folders: readonly Path[] },
      { signal }: { readonly signal: AbortSignal },
    ): Messages {
      const args = [...SEARCH, ...patternArguments(pattern), ...filterArguments({}), "--max-depth=1", "--"];
      const toArguments = (folder: Path) => {
        const names = [...places.files, ...places.folders].map((name) => nameFrom(folder, name));
        // Even without a location, ripgrep validates the pattern.
        return [...args, ...(names.length > 0 ? names : ["-"])];
      };
      return runIn(path, toArguments, signal, readMessages);
    },

    async *searchFile(
      path: Path,
      pattern: TextPattern,
      { signal }: { readonly signal: AbortSignal },
    ): Messages {
      const program = await locate();
      using file = confinement.openFile(path);
      if (pattern.multiline && file.stat.size > MAX_MULTILINE_BYTES) throw tooLarge(file.stat.size);
      const args = [...SEARCH, ...patternArguments(pattern), "--", "-"];
      const output = runRipgrep({ program, args, cwd: "/", env, stdin: file.fd, signal });
      for await (const messages of readMessages(output, "/", () => false))
        yield messages.map((one) => (one.kind === "begin" ? { ...one, path: file.path } : one));
    },

    /** The regular files below a folder, in the order of comparePaths, as ripgrep would search them. */
    files(
      path: Path,
      { signal, ...filter }: FileFilter & { readonly signal: AbortSignal },
    ): AsyncIterable<readonly Path[]> {
      const args = [...QUIET, "--files", "--null", ...filterArguments(filter), ...ORDERS.path];
      return runIn(path, () => [...args, "--", "."], signal, readNames);
    },
  };
}

type Messages = AsyncGenerator<readonly Message[], void>;

export interface FolderSearch extends FileFilter {
  readonly order: Order;
  readonly signal: AbortSignal;
  /** Called when an index has selected the files. */
  readonly onIndexed?: () => void;
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
    // With --crlf, $ also finds the end of lines that end in CR LF. A fixed pattern has no $.
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

/** Text that cannot be a process argument, or would be changed on the way. */
function refuseUnfit(path: string, value: string): void {
  if (!value.includes("\0") && value.isWellFormed()) return;
  const message = `${path} holds a NUL or half a character; write a NUL as \\x00`;
  throw new ToolError("INVALID_ARGUMENT", message, { issues: [{ path, message }] });
}

async function* readMessages(
  output: AsyncIterable<Buffer>,
  folder: Path,
  hides: Confinement["hides"],
): AsyncGenerator<Message[], void> {
  const split = createLineSplitter();
  let isHidden = false;
  for await (const chunk of output) {
    const messages = split(chunk).map(parseMessage);
    yield messages
      .filter((message) => message !== undefined)
      .map((one) => (one.kind === "begin" ? { ...one, path: join(folder, one.path) } : one))
      .filter((one) => {
        if (one.kind === "begin") isHidden = hides(one.path);
        return !isHidden;
      });
  }
}

async function* readNames(
  output: AsyncIterable<Buffer>,
  folder: Path,
  hides: Confinement["hides"],
): AsyncGenerator<Path[], void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of output) {
    const bytes = rest.length ? Buffer.concat([rest, chunk]) : chunk;
    const end = bytes.lastIndexOf(0) + 1;
    rest = bytes.subarray(end);
    const names = splitNul(bytes.subarray(0, end)).map((name) => join(folder, name));
    if (end) yield names.filter((name) => !hides(name));
  }
}

/** ripgrep prints paths relative to its working folder: ./src/main.ts */
const join = (folder: Path, name: Path): Path =>
  `${folder === "/" ? "" : folder}/${name.startsWith("./") ? name.slice(2) : name}`;

/** The other way round. */
const nameFrom = (folder: Path, path: Path): string =>
  path === folder ? "." : `./${path.slice(folder === "/" ? 1 : folder.length + 1)}`;

async function locateBundled(): Promise<string> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    return rgPath;
  } catch (cause) {
    throw ripgrepMissing(cause);
  }
}
