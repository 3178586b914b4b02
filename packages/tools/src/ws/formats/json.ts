/** What a manifest in JSON says; comments and commas at the end of a list are allowed, as deno.jsonc has them. */
export function readJson(text: string): { value: unknown; problem?: string } {
  try {
    return { value: JSON.parse(text) };
  } catch (strict) {
    try {
      return { value: JSON.parse(withoutComments(text)) };
    } catch {
      return {
        value: undefined,
        problem: `not valid JSON: ${strict instanceof Error ? strict.message : ""}`,
      };
    }
  }
}

/**
 * One match is a string, a comment, or a comma that nothing follows; strings are kept. What is never closed matches
 * too: a pattern that gave up there would start again at every quote, and take minutes over a hostile file.
 */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|,(?=\s*[}\]])/g;

function withoutComments(text: string): string {
  const bare = text.replace(TOKEN, (token) => (token.startsWith("/") ? " " : token));
  return bare.replace(TOKEN, (token) => (token === "," ? "" : token));
}
