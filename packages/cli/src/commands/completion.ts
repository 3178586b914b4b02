import { defineCommand, EXIT, UsageError } from "../command.ts";
import { toBash } from "../completion/bash.ts";
import { toFish } from "../completion/fish.ts";
import { toWords } from "../completion/words.ts";
import { toZsh } from "../completion/zsh.ts";
import { openOctant } from "../open-octant.ts";
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
    if (!isShell(shell))
      throw new UsageError(
        `there is no completion for '${shell}'`,
        `shells: ${Object.keys(SHELLS).join(", ")}`,
      );
    await using octant = openOctant(flags, io);
    io.stdout.write(SHELLS[shell](toWords(await loadCommands(), octant.registry.list())));
    return EXIT.OK;
  },
});

const isShell = (name: string): name is keyof typeof SHELLS => Object.hasOwn(SHELLS, name);
