import { firstDuplicate, type Json, listOf, refuse, signatureOf, stringOf } from "./rules.ts";

const TOOLS = /^web_search_(20250305|20260209|20260318)$/;
const OPTIONS = ["type", "name", "max_uses", "allowed_domains", "blocked_domains", "user_location"];

/** The rules of Anthropic's own web search: a tool, questions with their results, and what was found as it was. */
export function checkSearches(tools: readonly Json[], messages: readonly Json[]): void {
  const own = tools.findIndex(({ type }) => TOOLS.test(stringOf(type)));
  checkTool(tools[own], own);
  const blocks = messages.flatMap(({ role, content }, at) =>
    listOf(content).map((block, index) => ({ block, role, at, where: `messages.${at}.content.${index}` })),
  );
  const found = new Set<string>();
  const asked = new Set<string>();
  for (const { block, role, where } of blocks) {
    const type = stringOf(block["type"]);
    for (const citation of listOf(block["citations"]))
      if (citation["encrypted_index"] !== proofOf(citation))
        refuse(`${where}: Invalid \`encrypted_index\` in citation`);
    if (type !== "server_tool_use" && type !== "web_search_tool_result") continue;
    if (own < 0) refuse(`${where}: \`${type}\` blocks need the \`web_search\` tool`);
    if (role !== "assistant") refuse(`${where}: \`${type}\` blocks are only allowed in assistant messages`);
    if (type === "server_tool_use") {
      if (!/^srvtoolu_[a-zA-Z0-9_]+$/.test(stringOf(block["id"])))
        refuse(`${where}.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'`);
      asked.add(stringOf(block["id"]));
      continue;
    }
    const id = stringOf(block["tool_use_id"]);
    if (!asked.has(id))
      refuse(`${where}: unexpected \`tool_use_id\` found in \`web_search_tool_result\` blocks: ${id}`);
    found.add(id);
    for (const result of listOf(block["content"]))
      if (result["encrypted_content"] !== proofOf(result))
        refuse(`${where}: Invalid \`encrypted_content\` in \`search_result\` block`);
  }
  const last = messages.findLastIndex(({ role }) => role === "assistant");
  const isGoingOn =
    !listOf(messages.at(-1)?.["content"]).some(({ type }) => type === "text") || last === messages.length - 1;
  for (const { block, at } of blocks) {
    const id = stringOf(block["id"]);
    if (block["type"] !== "server_tool_use" || found.has(id) || (at === last && isGoingOn)) continue;
    refuse(
      `messages.${at}: \`web_search\` tool use with id \`${id}\` was found without a corresponding \`web_search_tool_result\` block`,
    );
  }
  const ids = blocks.map(({ block }) => (block["type"] === "server_tool_use" ? stringOf(block["id"]) : ""));
  const twice = firstDuplicate(ids.filter((id) => id !== ""));
  if (twice !== undefined) refuse("messages: `server_tool_use` ids must be unique");
}

function checkTool(tool: Json | undefined, at: number): void {
  if (!tool) return;
  if (tool["name"] !== "web_search")
    refuse(`tools.${at}.${stringOf(tool["type"])}.name: Input should be 'web_search'`);
  const extra = Object.keys(tool).find((option) => !OPTIONS.includes(option));
  if (extra !== undefined)
    refuse(`tools.${at}.${stringOf(tool["type"])}.${extra}: Extra inputs are not permitted`);
}

const proofOf = ({ title, url }: Json): string => signatureOf(`${stringOf(title)}\n${stringOf(url)}`);
