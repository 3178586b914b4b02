import type { ScriptedProvider } from "@octant/scripted-provider";

/** For tests only: obviously not a real key. */
export const TEST_KEY = "sk-test-0123456789abcdef";

/** The variables with which every provider's client uses the scripted one. */
export const providerEnvironment = (provider: ScriptedProvider): NodeJS.ProcessEnv => ({
  ANTHROPIC_API_KEY: TEST_KEY,
  OPENAI_API_KEY: TEST_KEY,
  GEMINI_API_KEY: TEST_KEY,
  ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
  OPENAI_BASE_URL: provider.baseUrl("openai"),
  GOOGLE_GEMINI_BASE_URL: provider.baseUrl("gemini"),
});
