import { isIP } from "node:net";
import type { Gate } from "./policy.ts";
import type { ChooseProxy } from "./proxy.ts";
import type { Resolve } from "./resolve.ts";
import type { Target } from "./target.ts";

export interface AdmitTools {
  readonly gate: Gate;
  readonly resolve: Resolve;
  readonly chooseProxy: ChooseProxy;
}

/** How an admitted request travels: through a proxy, or to one of the addresses that were checked. */
export interface Admitted {
  readonly proxy: string | undefined;
  readonly addresses: readonly string[];
}

/** NET_BLOCKED unless policy lets this caller reach the target. A proxy resolves names itself, so only the name is checked then. */
export async function admit(
  target: Target,
  { gate, resolve, chooseProxy }: AdmitTools,
  { isRemote, signal }: { readonly isRemote: boolean; readonly signal: AbortSignal },
): Promise<Admitted> {
  gate.checkName(target, isRemote);
  const proxy = chooseProxy(target);
  // For a remote caller the addresses that this machine knows must be open even behind a proxy.
  const addresses = proxy === undefined || isRemote ? await addressesOf(target, resolve, signal) : [];
  gate.checkAddresses(target, addresses, isRemote);
  return { proxy, addresses };
}

async function addressesOf(
  { host }: Target,
  resolve: Resolve,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if (isIP(host)) return [host];
  const addresses = await orAborted(resolve(host), signal);
  if (addresses.length > 0) return addresses;
  throw Object.assign(new Error("no address"), { code: "ENODATA" });
}

/** The system's resolver cannot be cancelled, but the caller need not wait for it. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
