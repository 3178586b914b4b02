import type { Launch } from "./launch.ts";

/** An editor's settings to start the agent, and where they belong. */
export interface AcpSettings {
  readonly editor: string;
  readonly file: string;
  readonly text: string;
}

/** `octant acp` for editors that speak the Agent Client Protocol. */
export function acpSettings({ command, args }: Launch): readonly AcpSettings[] {
  const start = { command, args: [...args.slice(0, -1), "acp"] };
  const toJson = (server: object) => JSON.stringify({ agent_servers: { Octant: server } }, null, 2);
  return [
    {
      editor: "Zed",
      file: "~/.config/zed/settings.json",
      text: toJson({ type: "custom", ...start, env: {} }),
    },
    { editor: "JetBrains IDEs", file: "~/.jetbrains/acp.json", text: toJson({ ...start, env: {} }) },
    { editor: "Neovim with codecompanion.nvim", file: "init.lua", text: toCodeCompanion(start) },
    { editor: "Neovim with avante.nvim", file: "init.lua", text: toAvante(start) },
  ];
}

const toLua = (value: string): string => JSON.stringify(value);
const toLuaList = (values: readonly string[]): string => `{ ${values.map(toLua).join(", ")} }`;

const toCodeCompanion = ({ command, args }: Launch): string => `require("codecompanion").setup({
  adapters = {
    acp = {
      octant = function()
        return require("codecompanion.adapters").extend("gemini_cli", {
          name = "octant",
          formatted_name = "Octant",
          commands = { default = ${toLuaList([command, ...args])} },
          env = {},
        })
      end,
    },
  },
  interactions = { chat = { adapter = "octant" } },
})`;

const toAvante = ({ command, args }: Launch): string => `require("avante").setup({
  provider = "octant",
  acp_providers = { octant = { command = ${toLua(command)}, args = ${toLuaList(args)} } },
})`;
