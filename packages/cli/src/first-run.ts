import {
  checkKey,
  findLocalServers,
  type LocalServer,
  PROVIDERS,
  type ProviderName,
  type SeveralModels,
} from "@octant/agent";
import { toOneLine } from "@octant/core";
import { createCredentialStore, type LineReader, openLineReader, setUserSettings } from "@octant/runtime";
import { askForTrust } from "./ask-for-trust.ts";
import type { Io } from "./command.ts";
import { findWaiting } from "./commands/trust.ts";
import { asTyped, personCommand } from "./person-command.ts";
import { isSecret } from "./questions.ts";

export interface FirstRunOptions {
  /** The provider from the flags, which leaves nothing to choose. */
  readonly provider: ProviderName | undefined;
  readonly root: readonly string[];
  readonly io: Io;
}

const HOSTED = [
  ["anthropic", "Anthropic"],
  ["openai", "OpenAI"],
  ["gemini", "Google Gemini"],
  ["hanzo", "Hanzo"],
] as const satisfies readonly (readonly [ProviderName, string])[];

/**
 * Sets up a provider and asks for trust in the folder. Returns false when the person leaves; nothing has
 * changed then.
 */
export async function firstRun({ provider, root, io }: FirstRunOptions): Promise<boolean> {
  using questions = openLineReader({ input: io.stdin, output: io.stdout });
  questions.say("Welcome to Octant. It needs a model to work with.\n");
  const isReady = provider ? await keepKey(provider, questions, io) : await chooseModel(questions, io);
  if (!isReady) questions.say(`nothing was changed; ${personCommand(io)} starts this again`);
  return isReady && (await askForTrust(await findWaiting(root, io), questions, io)) !== undefined;
}

async function chooseModel(questions: LineReader, io: Io): Promise<boolean> {
  const local = await findLocalServers(io.env);
  const offers = [
    ...local.map((server) => ({
      title: `${server.name} on this machine: ${some(server.models)}`,
      choose: () => keepLocal(server, questions, io),
    })),
    ...HOSTED.map(([name, title]) => ({
      title: `${title}, with an API key`,
      choose: () => keepKey(name, questions, io),
    })),
  ];
  for (const [i, { title }] of offers.entries()) questions.say(`  ${i + 1}  ${title}`);
  if (local.length === 0)
    questions.say("\n  No local model answers: Ollama, LM Studio and llama.cpp were looked for.");
  const chosen = await pick(`\nWhich one? [1-${offers.length}] `, offers, questions);
  return chosen ? chosen.choose() : false;
}

/** Lets the person choose one of the models of a server; undefined when they leave. */
export async function askForModel(
  { server, models }: Pick<SeveralModels, "server" | "models">,
  io: Io,
): Promise<string | undefined> {
  using questions = openLineReader({ input: io.stdin, output: io.stdout });
  questions.say(`${toOneLine(server)} has several models:`);
  const model = await pickModel(models, questions);
  if (model !== undefined) questions.say(`\n--model ${model} leaves out this question; /model switches\n`);
  return model;
}

function pickModel(models: readonly string[], questions: LineReader): Promise<string | undefined> {
  questions.say(`\n${models.map((model, i) => `  ${i + 1}  ${model}`).join("\n")}`);
  return pick(`\nWhich model? [1-${models.length}] `, models, questions);
}

async function keepLocal(server: LocalServer, questions: LineReader, io: Io): Promise<boolean> {
  const { base_url, models } = server;
  const model = models.length === 1 ? models[0] : await pickModel(models, questions);
  if (model === undefined) return false;
  await setUserSettings({ base_url, model }, { env: io.env });
  questions.say(`\n${server.name} answers with ${model}; this is in your settings now\n`);
  return true;
}

async function keepKey(provider: ProviderName, questions: LineReader, io: Io): Promise<boolean> {
  const [variable] = PROVIDERS[provider].key_variables;
  for (;;) {
    const key = await questions.ask(`API key of ${provider} (it is not shown; ${variable} works too): `, {
      hidden: true,
    });
    if (key === undefined || key === "") return false;
    if (!isSecret(key)) {
      questions.say("a key is one word; press Enter alone to leave");
      continue;
    }
    questions.say(`asking ${provider} about the key …`);
    const check = await checkKey(provider, key, io.env);
    if (check.state === "refused") {
      questions.say(
        `${provider} refuses this key (${check.reason}); check it and try again, or press Enter to leave`,
      );
      continue;
    }
    const store = createCredentialStore({ env: io.env });
    await store.change(provider, () => ({ kind: "api_key", key }));
    if (check.state === "unknown") questions.say(`the key was not checked: ${check.reason}`);
    questions.say(
      asTyped(
        `signed in to ${provider}; the key is in ${store.keyringOf(provider) ?? store.file}; octant logout ${provider} forgets the key\n`,
        io,
      ),
    );
    return true;
  }
}

/** Repeats the question until the number is valid; undefined when the person leaves. */
async function pick<T>(question: string, items: readonly T[], questions: LineReader): Promise<T | undefined> {
  for (;;) {
    const answer = await questions.ask(question);
    if (answer === undefined || /^q(uit)?$/i.test(answer)) return undefined;
    const item = /^\d+$/.test(answer) ? items[Number(answer) - 1] : items.find((one) => one === answer);
    if (item !== undefined) return item;
    questions.say(`a number from 1 to ${items.length}, or q to leave`);
  }
}

const MAX_NAMED = 3;

const some = (models: readonly string[]): string =>
  toOneLine(
    models.length > MAX_NAMED
      ? `${models.slice(0, MAX_NAMED).join(", ")} and ${models.length - MAX_NAMED} more`
      : models.join(", "),
  );
