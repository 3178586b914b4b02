import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import { join } from "node:path";
import { isScope, type Scope } from "./scopes.ts";
import { changeTokens, readTokens, type TokenRecord } from "./token-file.ts";

/** The public facts about a token. */
export type TokenInfo = Omit<TokenRecord, "hash">;

export interface NewToken {
  readonly scopes: readonly Scope[];
  readonly name?: string;
  readonly expires?: Date;
}

const ID_BYTES = 8;
const SECRET_BYTES = 32;
/** Lets people and secret scanners recognise a token. */
const PREFIX = "oct";
const toToken = (id: string, secret: Buffer) => `${PREFIX}_${id}_${secret.toString("base64url")}`;
const TOKEN = /^oct_(?<id>[0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;
/** How long a revoked token may still work in another process. */
const RELOAD_MS = 1_000;

export type TokenStore = ReturnType<typeof createTokenStore>;
/** The part of a token store that a listener uses. */
export type TokenCheck = Pick<TokenStore, "verify" | "find" | "list"> & {
  /** Reads a token that `verify` does not know: another server may have created it a moment ago. */
  refresh?(token: string): Promise<void>;
};

/**
 * The bearer tokens of a server, in a file that only its owner can read; processes share it. They are stored as
 * hashes; a token is shown once, when it is created.
 */
export function createTokenStore({ folder }: { readonly folder: string }) {
  const file = join(folder, "tokens.json");
  let known = new Map<string, KnownToken>();
  let readAt = Number.NEGATIVE_INFINITY;

  const load = () => {
    known = new Map(readTokens(file).map((record) => [record.id, toKnown(record)]));
    readAt = performance.now();
  };
  const findGood = (id: string): KnownToken | undefined => {
    // Another process may just have created it.
    if (performance.now() - readAt > RELOAD_MS || !known.has(id)) load();
    const found = known.get(id);
    return found && found.expiresMs > Date.now() ? found : undefined;
  };
  const add = (
    { scopes, name = "", expires }: NewToken,
    toSecret: (id: string) => Buffer,
  ): TokenInfo & { readonly token: string } => {
    const wrong = scopes.find((scope) => !isScope(scope));
    if (wrong !== undefined || scopes.length === 0)
      throw new TypeError(
        `a token has scopes: admin, admin:ro, project:<id>, project:<id>:ro; not '${wrong}'`,
      );
    const id = randomBytes(ID_BYTES).toString("hex");
    const token = toToken(id, toSecret(id));
    const info: TokenInfo = {
      id,
      name,
      scopes,
      created: new Date().toISOString(),
      ...(expires && { expires: expires.toISOString() }),
    };
    changeTokens(file, (records) => [...records, { ...info, hash: hashOf(token) }]);
    load();
    return { ...info, token };
  };
  return {
    create: (token: NewToken) => add(token, () => randomBytes(SECRET_BYTES)),
    /**
     * The token of this name derived from `key`, created when there is none, so that it can be shown again. The file
     * still contains only its hash; after a revocation the next one is different.
     */
    lasting(token: NewToken & { readonly name: string }, key: Uint8Array) {
      const toSecret = (id: string) => createHmac("sha256", key).update(`token ${id}`).digest();
      const isShown = (record: TokenRecord) =>
        record.name === token.name && record.hash === hashOf(toToken(record.id, toSecret(record.id)));
      const found = readTokens(file).find(isShown);
      return found
        ? { ...toInfo(found), token: toToken(found.id, toSecret(found.id)) }
        : add(token, toSecret);
    },
    list: (): readonly TokenInfo[] => readTokens(file).map(toInfo),
    /** False when there is no such token. */
    revoke(id: string): boolean {
      const had = readTokens(file).some((record) => record.id === id);
      if (had) changeTokens(file, (records) => records.filter((record) => record.id !== id));
      load();
      return had;
    },
    /** undefined when it is unknown, revoked or expired. */
    verify(token: string): TokenInfo | undefined {
      const { id } = TOKEN.exec(token)?.groups ?? {};
      const found = id === undefined ? undefined : findGood(id);
      return found && timingSafeEqual(Buffer.from(hashOf(token)), found.hash) ? found.info : undefined;
    },
    /** The same for a token that was verified before, by its id. */
    find: (id: string): TokenInfo | undefined => findGood(id)?.info,
  };
}

/** A record with its cached values. */
interface KnownToken {
  readonly info: TokenInfo;
  readonly hash: Buffer;
  readonly expiresMs: number;
}

const toKnown = (record: TokenRecord): KnownToken => ({
  info: toInfo(record),
  hash: Buffer.from(record.hash),
  expiresMs: record.expires === undefined ? Number.POSITIVE_INFINITY : Date.parse(record.expires),
});

/** The token has 256 random bits, so a plain hash cannot be reversed. */
const hashOf = (token: string) => hash("sha256", token, "hex");

const toInfo = ({ hash: _hash, ...info }: TokenRecord): TokenInfo => info;
