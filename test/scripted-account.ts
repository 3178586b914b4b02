import type { ScriptedProvider } from "@octant/scripted-provider";

/** The environment of a person with an account at the scripted provider. */
export const accountAt = (provider: Pick<ScriptedProvider, "baseUrl">) => ({
  ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
  ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
});
