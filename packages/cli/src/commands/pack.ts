import { addPack, describeRights, listPacks, newPack, removePack, servePack, testPack } from "@octant/app";
import { toOneLine } from "@octant/core";
import { loadConfig } from "@octant/runtime";
import { announce } from "../announce.ts";
import { toColumns } from "../columns.ts";
import { defineCommand, EXIT, type FlagValues, type Io, print, printJson, UsageError } from "../command.ts";
import { painted } from "../output.ts";
import { asTyped, tell } from "../person-command.ts";
import { confirm } from "../questions.ts";
import { logLine, rootsOf, workspaceFlags } from "../workspace-flags.ts";

const FLAGS = {
  root: workspaceFlags.root,
  "in-process": { summary: "add: run it in Octant's own process, with all your rights, not in a sandbox" },
  yes: { summary: "add: accept the rights that are shown without asking" },
  zmq: { summary: "run: where to serve, ipc:///path", value: "ADDRESS" },
  json: { summary: "Print as JSON" },
} as const;

type Run = (what: string, flags: FlagValues<typeof FLAGS>, io: Io) => Promise<number> | number;
const VERBS: Readonly<Record<string, Run>> = { add, list, remove, test, new: create, run };

export const pack = defineCommand({
  name: "pack",
  summary: "Write, test, add and remove packs: tools that other people wrote",
  arguments: [
    { name: Object.keys(VERBS).join("|"), kind: Object.keys(VERBS) },
    { name: "PACK", optional: true },
  ],
  flags: FLAGS,
  notes: `PACK is a folder (./hello), an npm package, or the name of a pack in your settings. A pack runs in its own process, in a
sandbox, with the rights that its package.json declares. You accept them when you add it, and again when its files change.
  octant pack new ./hello     write a pack that works, with a test
  octant pack test ./hello    check it, run its examples and its tests
  octant pack add ./hello     show its rights, ask, and add it to your settings
  octant pack list            show the packs and their state
  octant pack remove hello    remove it from your settings; its files stay
  octant pack run ./hello --zmq ipc:///run/user/1000/hello   serve its tools over HOOT01`,
  async run({ args: [verb = "", what], flags }, io) {
    if (what === undefined && verb !== "list")
      throw new UsageError(`octant pack ${verb} needs a PACK`, `octant pack ${verb} ./hello`);
    // The parser accepts only these verbs.
    return (VERBS[verb] as Run)(what ?? "", flags, io);
  },
});

async function add(from: string, flags: FlagValues<typeof FLAGS>, io: Io): Promise<number> {
  const inProcess = flags["in-process"];
  const { pack, isKnown, accept } = await addPack(from, { env: io.env, cwd: io.cwd(), inProcess });
  const { pack: name, version, folder, rights, uses } = pack;
  const show = (added: boolean, text: string) =>
    flags.json
      ? printJson({ name, version, folder, rights, uses, in_process: inProcess, added }, io)
      : tell(text, io);
  const may = inProcess ? "runs in Octant's process, with all your rights" : `may ${describeRights(pack)}`;
  if (!flags.json) print(`${name} ${version} in ${toOneLine(folder)}\n  ${toOneLine(may)}`, io);
  if (isKnown) return show(false, "already added, and unchanged");
  if (!flags.yes && !io.stdin.isTTY)
    throw new UsageError("nobody can be asked here", "--yes accepts the rights that are shown");
  if (!flags.yes && !(await confirm("Accept this and add the pack?", io)))
    return print("not added", io, EXIT.FAILED);
  await accept();
  return show(true, `added ${name}; octant tools lists its tools`);
}

function list(_: string, flags: FlagValues<typeof FLAGS>, io: Io): number {
  const packs = listPacks(loadConfig({ roots: rootsOf(flags, io), env: io.env }), io.env);
  if (flags.json) return printJson(packs, io);
  if (packs.length === 0) return tell("no packs; octant pack new ./hello writes one", io);
  const rows = packs.map(({ name, version = "", tier, runs, problem = "", disabled }) => {
    const state = disabled ? "disabled" : asTyped(problem, io);
    return [name, version, tier, runs, toOneLine(state)];
  });
  return print(toColumns([["name", "version", "from", "runs", ""], ...rows]).join("\n"), io);
}

async function remove(name: string, flags: FlagValues<typeof FLAGS>, io: Io): Promise<number> {
  await removePack(name, io.env);
  return flags.json ? printJson({ removed: name }, io) : print(`removed ${name}; its files stay`, io);
}

async function test(from: string, flags: FlagValues<typeof FLAGS>, io: Io): Promise<number> {
  const trials = await testPack(from, io.env, io.cwd());
  if (flags.json) printJson(trials, io);
  else
    for (const { name, ok, detail } of trials)
      print([painted(ok ? "green" : "red", ok ? "ok   " : "fail ", io.stdout), `${name}  ${detail}`], io);
  return trials.every(({ ok }) => ok) ? EXIT.OK : EXIT.FAILED;
}

function create(folder: string, flags: FlagValues<typeof FLAGS>, io: Io): number {
  const made = newPack(folder);
  if (flags.json) return printJson(made, io);
  return tell(`wrote ${made.files.join(", ")}; octant pack test ${toOneLine(folder)} tries it`, io);
}

async function run(from: string, flags: FlagValues<typeof FLAGS>, io: Io): Promise<number> {
  const { zmq, json } = flags;
  if (zmq === undefined)
    throw new UsageError("octant pack run needs --zmq", "--zmq ipc:///run/user/1000/hello");
  const log = (line: string) => void logLine(line, io);
  const server = await servePack({
    from,
    address: zmq,
    roots: rootsOf(flags, io),
    env: io.env,
    cwd: io.cwd(),
    log,
  });
  const { address } = server;
  return announce(json ? JSON.stringify({ address }) : `serving at ${address}; Ctrl-C ends it`, server, io);
}
