/** Parses a JSON manifest; comments and trailing commas are allowed, as in deno.jsonc. */
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
 * Each match is a string, a comment, or a trailing comma; strings are kept. Unclosed ones match too: a pattern that
 * failed there would restart at every quote, and take minutes over a hostile file.
 */
const TOKEN = /"(?:[^"\\\n]|\\.)*"?|\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|,(?=\s*[}\]])/g;

function withoutComments(text: string): string {
  const bare = text.replace(TOKEN, (token) => (token.startsWith("/") ? " " : token));
  return bare.replace(TOKEN, (token) => (token === "," ? "" : token));
}
