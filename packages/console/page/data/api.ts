import type { ApiError, CallAnswer, ConsoleActions, LoginAnswer } from "../../src/api.ts";
import { headersOf, setKey } from "./key.ts";

const API = "/console/api";

/** A request that the server refused, or a call that failed. */
export class Failed extends Error {
  override readonly name = "Failed";
  readonly code: string;
  readonly details: unknown;

  constructor(code: string, message: string, details?: unknown) {
    super(message);
    this.code = code;
    this.details = details;
  }
}

/** The codes that the page itself gives; all others come from the server. */
export const OFFLINE = "OFFLINE";

export type Api = ReturnType<typeof createApi>;

/** `onSignedOut` is called when the server no longer knows this page's cookie. */
export function createApi(onSignedOut: () => void) {
  async function send<T>(path: string, init: RequestInit): Promise<T> {
    const response = await fetch(`${API}${path}`, init).catch((cause: unknown) => {
      if (init.signal?.aborted) throw cause;
      throw new Failed(
        OFFLINE,
        "The server does not answer. It may have stopped; start it again and this page continues.",
      );
    });
    const body: unknown = await response.json().catch(() => undefined);
    // The server is ours and of the same version: `api.ts` declares the answers of both sides.
    if (response.ok) return body as T;
    if (response.status === 401 && path !== "/login") onSignedOut();
    const { error } = (body ?? {}) as Partial<ApiError>;
    throw new Failed(
      error?.code ?? `HTTP ${response.status}`,
      error?.message ?? "The server refused the request.",
      error?.details,
    );
  }
  const get = <T>(path: string, signal?: AbortSignal) =>
    send<T>(path, { headers: headersOf(), signal: signal ?? null });
  const post = <T>(path: string, body: object, signal?: AbortSignal) =>
    send<T>(path, {
      method: "POST",
      headers: { ...headersOf(), "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: signal ?? null,
    });
  const call = (process: string, tool: string, action: string, input: object, signal?: AbortSignal) =>
    post<CallAnswer>("/call", { process, tool, action, input }, signal);
  return {
    get,
    post,
    async signIn(token: string): Promise<void> {
      setKey((await post<LoginAnswer>("/login", { token })).key);
    },
    async signOut(): Promise<void> {
      await post("/logout", {});
      setKey(undefined);
    },
    /** Any action of a tool; a failure is in the envelope. */
    call,
    /** The data of a call; throws when it failed. */
    async data<T>(process: string, name: string, input: object, signal?: AbortSignal): Promise<T> {
      const [tool = "", action = ""] = name.split(".");
      const { envelope } = await call(process, tool, action, input, signal);
      // The action's declaration gives the type; the caller names it.
      if (envelope.ok) return envelope.data as T;
      throw toFailed(envelope.error);
    },
    /** An action of the person's own tool. */
    async person<A extends keyof ConsoleActions & string>(
      process: string,
      action: A,
      input: ConsoleActions[A]["input"],
      signal?: AbortSignal,
    ): Promise<ConsoleActions[A]["output"]> {
      const { envelope } = await call(process, "console", action, input, signal);
      // `ConsoleActions` is derived from the declarations of these actions.
      if (envelope.ok) return envelope.data as ConsoleActions[A]["output"];
      throw toFailed(envelope.error);
    },
  };
}

export const toFailed = (error: CallAnswer["envelope"]["error"]): Failed =>
  new Failed(error?.code ?? "UNKNOWN", error?.message ?? "The call failed.", error?.details);
