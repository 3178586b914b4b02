import { runVectors } from "@octant/conformance";

// With `command`, it tests your implementation in place of Octant's own.
for (const { domain, failures } of await runVectors({ domains: ["oauth-pkce", "sse-frames"] }))
  console.log(`${domain}: ${failures.length} failures`);
