import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { attempt, refuseNewer, ToolError } from "@octant/core";
import { replaceFile } from "@octant/host";
import { z } from "zod";
import { whileLocked } from "../config/locked.ts";
import { type Person, userFolder } from "../config/places.ts";
import { isWritableByOthers } from "../config/trust.ts";
import { findKeyring, type Keyring } from "./keyring.ts";

/** A function, since building a schema takes time that most starts can save. */
const credentialSchema = () =>
  z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("api_key"), key: z.string().min(1) }),
    z.object({
      kind: z.literal("oauth"),
      access_token: z.string().min(1),
      refresh_token: z.string().min(1).nullable(),
      /** Seconds since 1970; null when the server did not say. */
      expires_at: z.number().nullable(),
      issuer: z.url(),
      client_id: z.string().min(1),
      scope: z.string().nullable(),
    }),
    /** The sign-in to an MCP server; only the SDK knows its structure. */
    z.object({ kind: z.literal("mcp"), url: z.url(), data: z.record(z.string(), z.unknown()) }),
  ]);

export type Credential = z.output<ReturnType<typeof credentialSchema>>;
export type OAuthCredential = Extract<Credential, { kind: "oauth" }>;

/** By the name of a provider, or `mcp:` and the name of a server. */
export type StoredCredentials = Readonly<Record<string, Credential>>;

export type CredentialStore = ReturnType<typeof createCredentialStore>;

/** A refresh asks a server, which takes its time. */
const GIVE_UP_MS = 60_000;

/**
 * `credentials.json` beside the person's settings: 0600, written whole or not at all. Where the system has a keyring,
 * the secrets are in it, and the file says only that they are there.
 */
export function createCredentialStore(person: Person) {
  const folder = userFolder(person);
  const file = join(folder.path, "credentials.json");
  const keyring = findKeyring(person.env);
  const load = () => readable(readRows(file), keyring);
  return {
    file,
    load,
    /** The keyring that has the credential, for people; undefined when it is in the file. */
    keyringOf: (name: string): string | undefined =>
      isInKeyring(readRows(file)[name]) ? (keyring?.title ?? "a keyring that is closed") : undefined,
    /** The names of credentials that another version wrote in a shape that this one cannot read. */
    unreadable(): readonly string[] {
      const known = load();
      return Object.keys(readRows(file)).filter((name) => !Object.hasOwn(known, name));
    },
    /**
     * Changes one credential under a lock, and returns the stored one. `change` sees the writes of others;
     * undefined removes it.
     */
    change: (
      name: string,
      change: (now: Credential | undefined) => Promise<Credential | undefined> | Credential | undefined,
    ): Promise<Credential | undefined> =>
      whileLocked(
        folder,
        "credentials",
        async () => {
          // Credentials that another version wrote stay unchanged.
          const { [name]: before, ...others } = readRows(file);
          const now = load()[name];
          const next = await change(now);
          if (next === now) return next;
          const isKept = next !== undefined && keyring?.set(name, JSON.stringify(next)) === true;
          if (isInKeyring(before) && !isKept) keyring?.remove(name);
          const row = isKept ? { kind: KEYRING } : next;
          const all = { version: VERSION, ...others, ...(row && { [name]: row }) };
          replaceFile(file, `${JSON.stringify(all, null, 2)}\n`, { mode: 0o600 });
          return next;
        },
        { doing: "signing in", giveUpMs: GIVE_UP_MS },
      ),
  };
}

const VERSION = 1;

const KEYRING = "keyring";
const isInKeyring = (row: unknown): boolean => Object(row).kind === KEYRING;

/** A credential of another shape, such as of a newer version, counts as missing. So does one in a closed keyring. */
function readable(rows: Readonly<Record<string, unknown>>, keyring: Keyring | undefined): StoredCredentials {
  const schema = credentialSchema();
  return Object.fromEntries(
    Object.entries(rows).flatMap(([name, row]) => {
      const stored = isInKeyring(row) ? parse(keyring?.get(name) ?? "") : row;
      const { success, data } = schema.safeParse(stored);
      return success ? [[name, data]] : [];
    }),
  );
}

/** All credentials by name, unchecked. */
function readRows(file: string): Readonly<Record<string, unknown>> {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (cause) {
    if (Object(cause).code === "ENOENT") return {};
    throw unusable(file, "it cannot be read");
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile() || isWritableByOthers(stat)) throw unusable(file, "other users can write to it");
    const parsed = z.record(z.string(), z.unknown()).safeParse(parse(readFileSync(fd, "utf8")));
    if (!parsed.success) throw unusable(file, "its content is not valid");
    const { version, ...rows } = parsed.data;
    refuseNewer(version, VERSION, file);
    return rows;
  } finally {
    closeSync(fd);
  }
}

const parse = (text: string): unknown => attempt(() => JSON.parse(text));

/** The content is not reported: it contains secrets. */
const unusable = (file: string, why: string): ToolError =>
  new ToolError(
    "UNAUTHENTICATED",
    `the credentials in ${file} do not count: ${why}; fix or remove the file, then sign in again`,
    {},
  );
