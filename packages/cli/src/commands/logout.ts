import { PROVIDER_NAMES } from "@octant/agent";
import { createCredentialStore } from "@octant/runtime";
import { defineCommand, print, UsageError } from "../command.ts";

export const logout = defineCommand({
  name: "logout",
  summary: "Sign out of a model provider",
  arguments: [{ name: "PROVIDER", kind: PROVIDER_NAMES, optional: true }],
  flags: { all: { summary: "Sign out everywhere, including MCP servers" } },
  async run({ args: [provider], flags }, io) {
    const store = createCredentialStore({ env: io.env });
    const stored = Object.keys(store.load());
    if (!flags.all && provider === undefined)
      throw new UsageError(
        "octant logout needs the name of a provider, or --all",
        `signed in: ${stored.join(", ") || "nowhere"}`,
      );
    const gone = flags.all ? stored : stored.filter((name) => name === provider);
    for (const name of gone) await store.change(name, () => undefined);
    return print(gone.length > 0 ? `signed out of ${gone.join(", ")}` : "not signed in", io);
  },
});
