import { createHash, randomBytes } from "node:crypto";
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  fsyncSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { ToolError } from "@octant/core";
import { errnoOf } from "./errno.ts";
import { makeFolders } from "./make-folders.ts";
import type { Path } from "./path.ts";
import { toToolError } from "./system-error.ts";
import { xdgFolder } from "./user-folders.ts";

export interface StateOptions {
  readonly roots: readonly Path[];
  readonly env: NodeJS.ProcessEnv;
  warn(message: string): void;
}

const SECRET_BYTES = 32;
const SECRET_FILE = "secret";

export type StateFolder = ReturnType<typeof openStateFolder>;

/**
 * Where a workspace stores its persistent data: blobs, journal, secret. Nobody else can read or write it. It is in the
 * user's state folder, or in a private temp folder (with a warning) where that one cannot be used.
 */
export function openStateFolder({ roots, env, warn }: StateOptions) {
  const base = openBase(env, warn);
  const id = workspaceName(roots);
  const path = join(base, id);
  makePrivate(path);
  return {
    path,
    /** Names the workspace: its folder here and the project in token scopes. */
    id,
    /** The folder that holds this one and those of all the user's other workspaces. */
    base,
    /** A subfolder, created with mode 0700 when missing. */
    folder(name: string): string {
      const folder = join(path, name);
      makePrivate(folder);
      return folder;
    },
    /** A folder for this workspace beside its own, which remains when that one is removed. */
    folderBeside(name: string): string {
      makePrivate(join(base, name));
      const folder = join(base, name, id);
      makePrivate(folder);
      return folder;
    },
    /** 32 random bytes in a 0600 file, the same for every process of this workspace. */
    secret(): Uint8Array {
      try {
        return loadSecret(join(path, SECRET_FILE));
      } catch (cause) {
        throw toToolError(cause, "the state folder");
      }
    },
  };
}

/** The longest path of a Unix socket, on macOS. */
const MAX_SOCKET_PATH_BYTES = 103;
const SOCKET_NAME_BYTES = 24;

/**
 * The private folder for the sockets of this person's processes, in every project. Where the state folder's path is too
 * long for a socket, it is in the temp folder.
 */
export function openSocketFolder(env: NodeJS.ProcessEnv): string {
  const usual = join(
    openBase(env, () => {}),
    "run",
  );
  const fits = Buffer.byteLength(usual) + 1 + SOCKET_NAME_BYTES <= MAX_SOCKET_PATH_BYTES;
  const folder = fits ? usual : join(tmpdir(), `octant-${process.getuid?.() ?? "user"}-${digestOf(usual)}`);
  makePrivate(folder);
  return folder;
}

function openBase(env: NodeJS.ProcessEnv, warn: StateOptions["warn"]): string {
  const usual = join(xdgFolder(env, "XDG_STATE_HOME", join(".local", "state")), "octant");
  try {
    makePrivate(usual);
    checkSpace(usual);
    return usual;
  } catch (cause) {
    const temp = join(tmpdir(), `octant-${process.getuid?.() ?? "user"}`);
    makePrivate(temp);
    const errno = cause instanceof Error ? errnoOf(cause.cause) : undefined;
    const said = cause instanceof Error ? cause.message : String(cause);
    const reason = errno === undefined ? said : `it cannot be created or written (${errno})`;
    warn(
      `the state folder ${usual} cannot be used: ${reason}; ` +
        `the undo history goes to ${temp} and may be lost when this machine restarts`,
    );
    return temp;
  }
}

/** Less than this is not enough for the databases of one workspace. */
const MIN_FREE_BYTES = 256 * 1024;

/** Throws when the disk is full or the quota is exceeded, which only a write can detect. */
function checkSpace(folder: string): void {
  const draft = join(folder, `.space.${process.pid}.${randomBytes(8).toString("hex")}`);
  try {
    writeFileSync(draft, Buffer.alloc(MIN_FREE_BYTES, 1), { flag: "wx", mode: 0o600 });
  } catch (cause) {
    throw toToolError(cause, "the state folder");
  } finally {
    rmSync(draft, { force: true });
  }
}

/** A readable name, different for every set of roots, whose order does not matter. */
function workspaceName(roots: readonly Path[]): string {
  const sorted = roots.toSorted();
  const slug = basename(sorted[0] ?? "")
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[.-]+/, "")
    .slice(0, MAX_SLUG_CHARS);
  return `${slug || "root"}-${digestOf(JSON.stringify(sorted))}`;
}

const digestOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, DIGEST_CHARS);

const MAX_SLUG_CHARS = 40;
const DIGEST_CHARS = 16;
const PRIVATE = 0o700;
const OTHERS_CAN_WRITE = 0o022;
const OTHERS_CAN_READ = 0o055;

/** Creates the folder when it is missing; refuses one that another user could have prepared or can write to. */
function makePrivate(path: string): void {
  try {
    makeFolders(path, PRIVATE);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    const me = process.geteuid?.();
    if (me === undefined) return;
    const folder = statSync(path);
    if (lstatSync(path).uid !== me || folder.uid !== me) throw notPrivate("it belongs to another user");
    if (folder.mode & OTHERS_CAN_WRITE) throw notPrivate("other users can write to it; run chmod go-w on it");
    if (folder.mode & OTHERS_CAN_READ) chmodSync(path, PRIVATE);
  } catch (cause) {
    throw toToolError(cause, "the state folder");
  }
}

const notPrivate = (reason: string) => new ToolError("ACCESS_DENIED", reason, {});

function loadSecret(path: string): Uint8Array {
  try {
    const secret = readFileSync(path);
    if (secret.length === SECRET_BYTES) return secret;
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return makeSecret(path, linkSync);
    const message = `the file "${SECRET_FILE}" in Octant's state folder cannot be read (${errnoOf(cause)}); move it away, and a new one is made`;
    throw new ToolError("IO_ERROR", message, {}, { cause });
  }
  // Torn by a crash of the machine: cursors based on it are lost anyway.
  return makeSecret(path, renameSync);
}

/** The first writer wins, and every process reads the winner's. */
function makeSecret(path: string, place: (draft: string, path: string) => void): Uint8Array {
  const draft = `${path}.${process.pid}.${randomBytes(8).toString("hex")}`;
  const fd = openSync(draft, "wx", 0o600);
  try {
    writeSync(fd, randomBytes(SECRET_BYTES));
    fsyncSync(fd);
    place(draft, path);
  } catch (cause) {
    if (errnoOf(cause) !== "EEXIST") throw cause;
  } finally {
    closeSync(fd);
    // A renamed one no longer exists.
    rmSync(draft, { force: true });
  }
  return readFileSync(path);
}
