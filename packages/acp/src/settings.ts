import { RequestError, type SessionConfigOption, type SessionModeState } from "@agentclientprotocol/sdk";
import type { ModelChoice } from "@octant/app";
import { isSessionMode, MODES, SESSION_MODES, type SessionMode } from "@octant/core";

const MODE_LIST = SESSION_MODES.map((id) => ({
  id,
  name: toTitle(id),
  description: `${MODES[id].summary}.`,
}));

/** The mode and model of a session, as a client shows and sets them. */
export interface SessionSettings {
  readonly modeId: SessionMode;
  readonly modelId: string;
}

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

export function checkMode(id: string): SessionMode {
  if (isSessionMode(id)) return id;
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
