import { MODES, type Mode } from "@octant/core";
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
  run(name, { opened: { octant, agent } }) {
    const { id } = agent.session;
    const { modes } = octant;
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
      return { text: `mode: ${name}, which allows ${MODES[name].join(", ")}` };
    }
    if (name === NONE) {
      modes.setIntent(id, undefined);
      modes.activate(id, undefined);
      return { text: "mode: everything is allowed" };
    }
    const { summary, prompt } = modes.activate(id, name) ?? modes.find(name);
    agent.queue(`From now on, work in the developer mode ${name}: ${prompt}`);
    return { text: `mode: ${name}. ${summary}` };
  },
};
