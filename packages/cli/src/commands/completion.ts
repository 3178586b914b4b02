import { defineCommand, EXIT } from "../command.ts";
import { toBash } from "../completion/bash.ts";
import { toFish } from "../completion/fish.ts";
import { toWords } from "../completion/words.ts";
import { toZsh } from "../completion/zsh.ts";
import { openOctant } from "../open-octant.ts";
import { write } from "../output.ts";
import { workspaceFlags } from "../workspace-flags.ts";
import { loadCommands } from "./index.ts";

const SHELLS = { bash: toBash, zsh: toZsh, fish: toFish };

export const completion = defineCommand({
  name: "completion",
  summary: "Print a shell completion script",
  arguments: [{ name: "SHELL", kind: Object.keys(SHELLS) }],
  flags: workspaceFlags,
  notes: `bash: eval "$(octant completion bash)" in ~/.bashrc
zsh:  source <(octant completion zsh) in ~/.zshrc, after compinit
fish: octant completion fish > ~/.config/fish/completions/octant.fish`,
  async run({ args: [shell = ""], flags }, io) {
    await using octant = await openOctant({ ...flags, pack: undefined }, io);
    // The parser accepts only these names.
    const toScript = SHELLS[shell as keyof typeof SHELLS];
    write(toScript(toWords(await loadCommands(), octant.registry.list())), io);
    return EXIT.OK;
  },
});
