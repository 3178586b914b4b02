import { invalidArgument } from "@octant/core";
import { createNetwork, type Network } from "@octant/host";

export interface WebhookNetworkOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly netAllow: readonly string[];
  log(line: string): void;
}

/** Reaches public addresses, and other hosts only when the hub's owner names them. */
export function createWebhookNetwork({ env, netAllow, log }: WebhookNetworkOptions): Network {
  const policy = { loopback: false, private: false, allow: netAllow, deny: [] };
  try {
    return createNetwork({ policy, env, warn: log });
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw invalidArgument("net-allow", cause.message, { cause });
  }
}
