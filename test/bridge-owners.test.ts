import { createOctant } from "@octant/app";
import { type Caller, type Envelope, toMemberId, toOwnerId } from "@octant/core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createFixtureProject, type FixtureProject } from "./fixture-project.ts";

const ann: Caller = { id: toOwnerId("a".repeat(32)), access: "write", remote: true };
const bob: Caller = { id: toOwnerId("b".repeat(32)), access: "write", remote: true };
const annsAgent: Caller = { ...ann, id: toMemberId(ann.id, "ses_1") };
const person: Caller = { id: "local", access: "admin" };
const personsToken: Caller = { id: "token_1", access: "admin", remote: true };

type Call = (name: string, input: object) => Promise<Envelope>;
type Data = Record<string, never>;

/** Everything that Octant stores for a caller: how to store something with a word in it, and where the word shows. */
interface Stored {
  /** Whether callers of one owner, or of the person, share it; otherwise it belongs to its caller. */
  readonly isShared: boolean;
  store(call: Call, word: string): Promise<unknown>;
  look(call: Call, handle: never): Promise<Envelope>;
}
const dataOf = ({ data, error }: Envelope): Data => {
  if (error) throw new Error(error.message);
  return data as Data;
};
const remember = (scope: string, isShared: boolean): Stored => ({
  isShared,
  store: (call, word) => call("memory.create", { text: `about ${word}`, scope }),
  look: (call) => call("memory.manage", { scopes: [scope], limit: 100 }),
});
const ANNOTATED = "README.md";
const STORED: Readonly<Record<string, Stored>> = {
  "an undo ref": {
    isShared: true,
    async store(call, word) {
      const uri = `${word}.txt`;
      dataOf(await call("fs.write", { uri, content: word }));
      return dataOf(await call("fs.rm", { uri, confirm: true }))["undo"];
    },
    look: (call, uri) => call("fs.read", { uri }),
  },
  "an undo ref as a patch": {
    isShared: true,
    async store(call, word) {
      const uri = `patch-${word}.txt`;
      dataOf(await call("fs.write", { uri, content: word }));
      return dataOf(await call("fs.rm", { uri, confirm: true }))["undo"];
    },
    look: (call, patch) => call("fs.apply_patch", { patch, dry_run: true }),
  },
  "the hash of an undo ref": {
    isShared: true,
    async store(call, word) {
      const uri = `hash-${word}.txt`;
      dataOf(await call("fs.write", { uri, content: word }));
      return String(dataOf(await call("fs.rm", { uri, confirm: true }))["undo"]).slice("blob:".length);
    },
    look: (call, hash) => call("cas.get", { hash, as: "base64" }),
  },
  content: {
    isShared: true,
    store: async (call, word) => dataOf(await call("cas.store", { content: word }))["hash"],
    look: (call, hash) => call("cas.get", { hash }),
  },
  "the ref of content": {
    isShared: true,
    store: async (call, word) => dataOf(await call("cas.store", { content: `ref ${word}` }))["ref"],
    look: (call, uri) => call("fs.read", { uri }),
  },
  "an artifact": {
    isShared: true,
    store: (call, word) => call("artifact.upload", { name: word, content: word }),
    look: (call) => call("artifact.list", {}),
  },
  "an annotation": {
    isShared: true,
    store: (call, word) => call("annotation.add", { target: ANNOTATED, text: word }),
    look: (call) => call("annotation.list", { target: ANNOTATED }),
  },
  "an annotation in the graph": {
    isShared: true,
    store: (call, word) => call("annotation.add", { target: "src/main.ts", text: word }),
    look: (call) => call("graph.context", { target: "src/main.ts" }),
  },
  "an identity": {
    isShared: true,
    store: (call, word) => call("graph.bind", { name: word, targets: [ANNOTATED] }),
    look: (call) => call("graph.find", {}),
  },
  "a global memory": remember("global", true),
  "a memory of the project": remember("project", true),
  "a memory of the session": remember("session", false),
  "a recalled memory": {
    isShared: true,
    store: (call, word) => call("memory.create", { text: `recall ${word}`, scope: "global" }),
    look: (call) => call("memory.recall", { query: "recall", limit: 100 }),
  },
  "the ref of a memory": {
    isShared: true,
    async store(call, word) {
      return dataOf(await call("memory.create", { text: word, scope: "global" }))["memory_id"];
    },
    look: (call, id) => call("fs.read", { uri: `memory:${id}` }),
  },
  "a plan": {
    isShared: false,
    store: (call, word) => call("plan.create", { title: word, steps: [{ content: word }] }),
    look: (call) => call("plan.list", {}),
  },
  "a thought": {
    isShared: false,
    store: (call, word) => call("think.think", { thought: word }),
    look: (call) => call("think.list", {}),
  },
  "a job": {
    isShared: false,
    store: async (call, word) => {
      const { meta } = await call("proc.exec", { command: `echo ${word}`, background: true });
      return meta.job_id;
    },
    look: (call, job_id) => call("job.poll", { job_id }),
  },
  "the output of a process": {
    isShared: false,
    store: async (call, word) => dataOf(await call("proc.exec", { command: `echo ${word}` }))["stdout_ref"],
    look: (call, uri) => call("fs.read", { uri }),
  },
};

let project: FixtureProject;
let octant: ReturnType<typeof createOctant>;
beforeAll(() => {
  project = createFixtureProject();
  const toolConfig = { enable: ["core", "store", "notes", "wire"] };
  octant = createOctant({ projectPath: project.root, env: project.env, toolConfig });
});
afterAll(async () => {
  await octant.close();
  project[Symbol.dispose]();
});
const as =
  (caller: Caller): Call =>
  async (name, input) => {
    const [tool = "", action = ""] = name.split(".");
    return (await octant.dispatch({ tool, action, input }, { caller })).envelope;
  };

describe.each(Object.entries(STORED))("%s", (name, { isShared, store, look }) => {
  const word = (whose: string) => `${whose}${name.replaceAll(/\W/g, "")}`;
  const hasOf = async (caller: Caller, whose: Caller, owner: string) => {
    const handle = await store(as(whose), word(owner));
    const found = await look(as(caller), handle as never);
    const text = JSON.stringify(found);
    return found.ok && (text.includes(word(owner)) || text.includes('"encoding":"base64"'));
  };
  test("is there for its caller, and not for others", async () => {
    expect({
      own: await hasOf(ann, ann, "ann"),
      "an owner's, for another owner": await hasOf(bob, ann, "annA"),
      "an owner's, for the person": await hasOf(person, ann, "annB"),
      "the person's, for an owner": await hasOf(ann, person, "person"),
      "an owner's, for its sub-agent": await hasOf(annsAgent, ann, "annC"),
      "a sub-agent's, for another owner": await hasOf(bob, annsAgent, "annD"),
      "the person's, for the person's token": await hasOf(personsToken, person, "personB"),
    }).toEqual({
      own: true,
      "an owner's, for another owner": false,
      "an owner's, for the person": isByHash(name),
      "the person's, for an owner": false,
      "an owner's, for its sub-agent": isShared,
      "a sub-agent's, for another owner": false,
      "the person's, for the person's token": isShared,
    });
  });
});

/** The person who started the bridge has the state folder, so undo refs are not hidden from that person. */
const isByHash = (name: string): boolean => name.includes("undo ref");
