import { hash, randomBytes, timingSafeEqual } from "node:crypto";
import { ToolError } from "@octant/core";
import type { Scope, TokenCheck, TokenInfo } from "@octant/http";
import type { HubStore } from "../store/hub-store.ts";

/** A stored token. Its secrets cannot be derived from it. */
export interface HubToken {
  readonly id: string;
  readonly name?: string;
  readonly project_id?: string;
  readonly scope: Scope;
  readonly created_at: string;
  readonly expires_at?: string;
  readonly last_used_at?: string;
  /** The newest secret first; an older one is accepted until its time is over. */
  readonly secrets: readonly { readonly hash: string; readonly until?: string }[];
}

export interface NewHubToken {
  readonly name?: string | undefined;
  readonly project_id?: string | undefined;
  readonly scope: Scope;
  readonly expires_at?: string | undefined;
}

export type HubTokens = Awaited<ReturnType<typeof openHubTokens>>;

const ID_BYTES = 8;
const SECRET_BYTES = 32;
/** The prefix lets people and secret scanners recognise a token. */
const TOKEN = /^oct_(?<id>[0-9a-f]{16})_[A-Za-z0-9_-]{43}$/;
/** How precisely the last use is stored. */
const USE_STEP_MS = 60_000;
/** How long a token that another hub revoked may still work here. */
const RELOAD_MS = 1_000;

/** The tokens of a hub. All of them are held in memory, so that a request is checked without waiting. */
export async function openHubTokens(store: HubStore, log: (line: string) => void) {
  const records = store.records<HubToken>("token");
  let known = new Map<string, HubToken>();
  const load = async () => {
    known = new Map((await records.list()).map((token) => [token.id, token]));
  };
  const complain = (cause: unknown) => log(`hub: the tokens cannot be read: ${cause}`);
  await load();
  const timer = setInterval(() => void load().catch(complain), RELOAD_MS);
  timer.unref();

  const findGood = (id: string): HubToken | undefined => {
    const token = known.get(id);
    return token && isFuture(token.expires_at) ? token : undefined;
  };
  const noteUse = (token: HubToken) => {
    const now = new Date();
    if (now.getTime() - Date.parse(token.last_used_at ?? "1970-01-01") < USE_STEP_MS) return;
    const used = { ...token, last_used_at: now.toISOString() };
    known.set(token.id, used);
    records.change(token.id, (stored) => ({ ...stored, last_used_at: used.last_used_at })).catch(complain);
  };
  const check: TokenCheck = {
    /** Another hub may have made it a moment ago. */
    async refresh(text) {
      const { id } = TOKEN.exec(text)?.groups ?? {};
      const found = id === undefined ? undefined : await records.get(id);
      if (found) known.set(found.id, found);
    },
    verify(text) {
      const { id } = TOKEN.exec(text)?.groups ?? {};
      const token = id === undefined ? undefined : findGood(id);
      const given = Buffer.from(hashOf(text));
      const fits = token?.secrets
        .filter(({ until }) => isFuture(until))
        // Every secret is compared, so that the time tells nothing.
        .map((secret) => timingSafeEqual(given, Buffer.from(secret.hash)))
        .includes(true);
      if (!token || !fits) return undefined;
      noteUse(token);
      return toInfo(token);
    },
    find(id) {
      const token = findGood(id);
      return token && toInfo(token);
    },
    list: () => [...known.values()].map(toInfo),
  };
  const find = async (id: string): Promise<HubToken> => {
    const token = await records.get(id);
    if (token) return token;
    throw notFound(id);
  };
  const remove = async (id: string): Promise<void> => {
    await records.remove(id);
    known.delete(id);
  };
  return {
    check,
    /** Newest first. */
    list: (): Promise<readonly HubToken[]> => records.list(),
    async create({ name, project_id, scope, expires_at }: NewHubToken) {
      const id = randomBytes(ID_BYTES).toString("hex");
      const text = newText(id);
      const token: HubToken = {
        id,
        scope,
        created_at: new Date().toISOString(),
        secrets: [{ hash: hashOf(text) }],
        ...(name !== undefined && { name }),
        ...(project_id !== undefined && { project_id }),
        ...(expires_at !== undefined && { expires_at }),
      };
      await records.add(token);
      known.set(id, token);
      return { ...token, token: text };
    },
    /** Another secret for the same token; the earlier ones work until the time is over. */
    async rotate(id: string, graceMs: number) {
      await find(id);
      const text = newText(id);
      const until = new Date(Date.now() + graceMs).toISOString();
      const changed = await records.change(id, (stored) => ({
        ...stored,
        secrets: [
          { hash: hashOf(text) },
          ...stored.secrets
            .filter((secret) => isFuture(secret.until))
            .map((secret) => ({ ...secret, until: earlier(secret.until, until) })),
        ],
      }));
      if (!changed) throw notFound(id);
      known.set(id, changed);
      return { ...changed, token: text, earlier_until: until };
    },
    async revoke(id: string): Promise<void> {
      await find(id);
      await remove(id);
    },
    /** Revokes the tokens of a project. */
    async revokeOf(project_id: string): Promise<void> {
      const scopes: readonly Scope[] = [`project:${project_id}`, `project:${project_id}:ro`];
      for (const { id, scope } of await records.list()) if (scopes.includes(scope)) await remove(id);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

const notFound = (id: string): ToolError =>
  new ToolError("NOT_FOUND", `there is no token '${id}'; token.list shows them`, { id });

const newText = (id: string): string => `oct_${id}_${randomBytes(SECRET_BYTES).toString("base64url")}`;

/** A token has 256 random bits, so a plain hash cannot be reversed. */
const hashOf = (text: string): string => hash("sha256", text, "hex");

const isFuture = (at: string | undefined): boolean => at === undefined || Date.parse(at) > Date.now();

const earlier = (one: string | undefined, other: string): string =>
  one !== undefined && one < other ? one : other;

const toInfo = ({ id, name = "", scope, created_at, expires_at }: HubToken): TokenInfo => ({
  id,
  name,
  scopes: [scope],
  created: created_at,
  ...(expires_at !== undefined && { expires: expires_at }),
});
