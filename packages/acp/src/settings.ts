import { RequestError, type SessionConfigOption, type SessionModeState } from "@agentclientprotocol/sdk";
import type { ModelChoice } from "@octant/app";
import { MODES, type Mode } from "@octant/core";

/** The mode without restrictions, with approvals. */
export const DEFAULT_MODE = "default";

const DESCRIPTIONS: Readonly<Record<Mode, string>> = {
  inspect: "Read only: nothing is changed and nothing is run.",
  apply: "Read and edit files.",
  verify: "Read, and run tests and commands.",
  ship: "Read, commit and push.",
};

// Object.keys widens the keys to string.
const MODE_NAMES = Object.keys(MODES) as Mode[];

const MODE_LIST = [
  { id: DEFAULT_MODE, name: "Default", description: "All tools; changes need an approval." },
  ...MODE_NAMES.map((id) => ({ id, name: toTitle(id), description: DESCRIPTIONS[id] })),
];

/** The mode and model of a session, as a client shows and sets them. */
export interface SessionSettings {
  readonly modeId: string;
  readonly modelId: string;
}

export const toMode = (id: string): Mode | undefined => MODE_NAMES.find((name) => name === id);

export const toModeState = ({ modeId }: SessionSettings): SessionModeState => ({
  currentModeId: modeId,
  availableModes: MODE_LIST,
});

export const toConfigOptions = (
  { modeId, modelId }: SessionSettings,
  models: readonly ModelChoice[],
): SessionConfigOption[] => [
  {
    id: "mode",
    name: "Mode",
    description: "What the agent may do",
    category: "mode",
    type: "select",
    currentValue: modeId,
    options: MODE_LIST.map(({ id, name, description }) => ({ value: id, name, description })),
  },
  {
    id: "model",
    name: "Model",
    description: "Who answers",
    category: "model",
    type: "select",
    currentValue: modelId,
    options: models.map(({ id, name }) => ({ value: id, name })),
  },
];

export function checkMode(id: string): string {
  if (MODE_LIST.some((mode) => mode.id === id)) return id;
  throw RequestError.invalidParams(
    undefined,
    `unknown mode '${id}'; modes: ${MODE_LIST.map((mode) => mode.id).join(", ")}`,
  );
}

export function checkModel(id: string, models: readonly ModelChoice[]): string {
  if (models.some((model) => model.id === id)) return id;
  throw RequestError.invalidParams(
    undefined,
    `unknown model '${id}'; models: ${models.map((model) => model.id).join(", ")}`,
  );
}

function toTitle(name: string): string {
  return `${name.slice(0, 1).toUpperCase()}${name.slice(1)}`;
}
