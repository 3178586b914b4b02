import { join } from "node:path";
import { expect, test } from "vitest";
import { createPerson, writeFiles } from "./front-door.ts";

const TOOLS = ["cas", "artifact", "annotation", "config", "graph"];

test("the store tools of the published command keep results, annotations and connections across a restart", async () => {
  await using person = await createPerson();
  const root = join(person.folder, "project");
  writeFiles(root, { "README.md": "# Demo\n", "src/a.ts": "export const a = 1;\n" });
  writeFiles(person.home, {
    ".config/hanzo/settings.json": JSON.stringify({ tools: TOOLS }),
  });
  let manual = "";
  {
    await using server = await person.serve(root);
    const data = async (action: string, input: Record<string, unknown>) => {
      const answer = await server.call(action, input);
      expect(answer.error, action).toBeNull();
      return answer.data;
    };
    const { artifact: notes } = await data("artifact.upload", {
      name: "notes.txt",
      content: "hello\n",
      tags: ["draft"],
    });
    const { artifact: made } = await data("artifact.upload", {
      name: "summary.txt",
      content: "hi\n",
      parents: [notes.artifact_id],
      creator: "robot",
    });
    expect(made).toMatchObject({ creator: "robot", parents: [notes.artifact_id], size: 3 });
    expect(await data("artifact.get", { artifact_id: notes.artifact_id })).toMatchObject({ text: "hello\n" });
    expect(await data("artifact.list", { tags: ["draft"] })).toEqual({ artifacts: [notes] });
    expect(await data("artifact.list", { parent: notes.artifact_id })).toEqual({ artifacts: [made] });
    expect(notes).toMatchObject({ mime: "text/plain" });
    expect(await data("cas.get", { hash: notes.hash })).toMatchObject({ text: "hello\n" });
    const bytes = await server.call("cas.get", { hash: notes.hash, as: "binary" });
    expect(bytes.error).toMatchObject({ code: "UNSUPPORTED" });

    await data("annotation.add", { target: "README.md", text: "Out of date since 2.0", kind: "review" });
    const { annotations } = await data("annotation.list", { target: "README.md" });
    expect(annotations).toMatchObject([{ text: "Out of date since 2.0", kind: "review" }]);
    expect(await data("annotation.list", { kind: "todo" })).toEqual({ annotations: [] });

    const { identity } = await data("graph.bind", { name: "manual", targets: ["README.md"] });
    manual = identity.identity_id;
    const { identity: code } = await data("graph.bind", { name: "code", targets: ["src/a.ts"] });
    await data("graph.tag", { identity_id: manual, add: ["reviewed"] });
    const connection = { from: manual, to: code.identity_id, kind: "describes" };
    expect(await data("graph.connect", connection)).toEqual({ connection, changed: true });
    expect(await data("graph.connect", connection)).toMatchObject({ changed: false });

    expect(await data("config.get", { key: "tools" })).toEqual({
      settings: [{ key: "tools", value: JSON.stringify(TOOLS), source: "user" }],
    });
    expect((await server.call("config.get", { key: "nonsense" })).error).toMatchObject({ code: "NOT_FOUND" });
    expect((await server.call("annotation.add", { target: "../outside", text: "x" })).error).toMatchObject({
      code: "OUTSIDE_WORKSPACE",
    });
  }
  await using server = await person.serve(root);
  const found = await server.call("graph.find", { tag: "reviewed" });
  expect(found.data.identities).toMatchObject([{ name: "manual", identity_id: manual }]);
  const reached = await server.call("graph.query", { from: manual, kind: "describes" });
  expect(reached.data.reached).toMatchObject([{ identity: { name: "code" }, distance: 1 }]);
  const context = await server.call("graph.context", { target: "README.md" });
  expect(context.data).toMatchObject({
    identities: [{ name: "manual", tags: ["reviewed"] }],
    neighbours: [{ name: "code" }],
    annotations: [{ text: "Out of date since 2.0" }],
    truncated: false,
  });
});
