import { MODES, type Mode } from "@octant/core";
import { toModePrompt } from "../session-mode.ts";
import type { SlashCommand } from "./slash-command.ts";

const NONE = "default";
const isIntent = (name: string): name is Mode => Object.hasOwn(MODES, name);

export const mode: SlashCommand = {
  name: "mode",
  argument: "[NAME]",
  summary:
    "Show the modes, or work in one: an intent such as inspect, or a developer mode; default ends both",
  complete: ({ opened: { octant } }) => [
    ...Object.keys(MODES),
    ...octant.modes.all.map(({ name }) => name),
    NONE,
  ],
  run(name, { opened: { octant, agent }, hasInput = false }) {
    const { id, conversation } = agent.session;
    const { modes } = octant;
    const note =
      conversation.model || hasInput
        ? ""
        : "\n\nThis run has no session yet, so nothing is kept; `--continue` or `--resume` sets it for a session.";
    if (name === "") {
      const now = [modes.intent(id), modes.current(id)?.name].filter((one) => one !== undefined);
      return {
        text: [
          `mode: ${now.join(", ") || "everything is allowed"}`,
          ...Object.entries(MODES).map(([intent, allowed]) => `- **${intent}** allows ${allowed.join(", ")}`),
          ...modes.all.map((one) => `- **${one.name}** ${one.summary}`),
        ].join("\n"),
      };
    }
    if (isIntent(name)) {
      modes.setIntent(id, name);
      return { text: `mode: ${name}, which allows ${MODES[name].join(", ")}${note}` };
    }
    if (name === NONE) {
      const ended = modes.current(id);
      if (ended) agent.queue(`The developer mode ${ended.name} has ended.`);
      modes.setIntent(id, undefined);
      modes.activate(id, undefined);
      return { text: "mode: everything is allowed" };
    }
    const { summary, prompt } = modes.activate(id, name) ?? modes.find(name);
    agent.queue(toModePrompt(name, prompt));
    return { text: `mode: ${name}. ${summary}${note}` };
  },
};
