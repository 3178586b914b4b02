import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createScriptedProvider } from "@octant/scripted-provider";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openEngine, type TestEngine } from "../packages/hub/testing/engines.ts";
import { git, openHub } from "../packages/hub/testing/open-hub.ts";
import { importTestImage } from "../packages/hub/testing/test-image.ts";
import { lacks } from "./ui/lacks.ts";

const IMAGE = "localhost/octant-test-image:1";
const found = lacks("busybox-static") ? "busybox-static is not installed" : await openEngine("podman");
if (typeof found === "string") test.skip(`images of projects (not here: ${found})`);
else describe("an image of a project", () => describeImages(found));

function describeImages(opened: TestEngine): void {
  const { engine } = opened;
  afterAll(() => opened[Symbol.asyncDispose]());

  const openProject = async (files: Readonly<Record<string, string>>, more: object = {}) => {
    if (!(await engine.hasImage(IMAGE))) await importTestImage(engine, IMAGE);
    const provider = await createScriptedProvider([
      {
        parts: [
          {
            call: "proc",
            input: { action: "exec", command: ["sh", "-c", "cat prepared; busybox | head -1"] },
          },
        ],
      },
      { parts: [{ text: "Done." }] },
    ]);
    onTestFinished(() => provider.close());
    const env = {
      ANTHROPIC_API_KEY: "sk-test-0123456789abcdef",
      ANTHROPIC_BASE_URL: provider.baseUrl("anthropic"),
    };
    const hub = await openHub({ engine, env });
    const source = hub.createSource();
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(source, dirname(path)), { recursive: true });
      writeFileSync(join(source, path), content);
    }
    git(source, "add", "-A");
    git(source, "commit", "-qm", "Files");
    const { project_id } = await hub.get<{ project_id: string }>("project.create", {
      ...{ name: "demo", folder: source, model: "some-model", ...more },
    });
    const exec = async (command: string) =>
      (await hub.get<{ stdout: string }>("container.exec", { project_id, command })).stdout;
    return { ...hub, project_id, exec };
  };

  test("is built from its Containerfile, and the job of a rebuild has the log", async () => {
    const { exec, call, get, hub, project_id } = await openProject({
      Containerfile: `FROM ${IMAGE}\nCOPY a.txt /built\nRUN echo from-the-build >> /built\n`,
    });
    expect(await exec("cat /built")).toBe("one\nfrom-the-build\n");
    const { meta } = await call("image_rebuild.project", { project_id });
    const job_id = meta.job_id ?? "";
    await vi.waitFor(
      async () => expect(await get("job.status", { job_id })).toMatchObject({ job: { state: "complete" } }),
      { timeout: 60_000, interval: 100 },
    );
    const { text } = await get<{ text: string }>("container.logs", { project_id });
    expect(text).toContain("RUN echo from-the-build");
    expect(hub.octant.registry.list().map(({ name }) => name)).toContain("image_rebuild");
  });

  test("and its settings come from devcontainer.json, and a session works in it", async () => {
    const { exec, get, project_id } = await openProject({
      ".devcontainer/devcontainer.json": `{
        // With a comment.
        "build": { "dockerfile": "Dockerfile", "context": "..", "args": { "WORD": "given" } },
        "features": { "./greet": { "name": "feature" } },
        "containerEnv": { "GREETING": "hello", "LOCAL": "\${localEnv:HOME:none}" },
        "postCreateCommand": "echo prepared-by-the-project > prepared",
      }`,
      ".devcontainer/Dockerfile": `FROM ${IMAGE}\nARG WORD\nRUN echo $WORD > /word\n`,
      ".devcontainer/greet/install.sh": "#!/bin/sh\necho greet-$NAME > /greet\n",
    });
    expect(await exec("cat /word /greet; echo $GREETING $LOCAL")).toBe("given\ngreet-feature\nhello none\n");
    const { session_id } = await get<{ session_id: string }>("session.spawn", {
      project_id,
      message: "Look.",
    });
    await vi.waitFor(
      async () => expect(await get("session.get", { session_id })).toMatchObject({ state: "idle" }),
      { timeout: 60_000, interval: 100 },
    );
    const events = JSON.stringify(await get("session.events", { session_id }));
    expect(events).toContain("prepared-by-the-project");
    expect(events).toContain("BusyBox v1");
    expect(await get("session.get", { session_id })).toMatchObject({ outcome: "done" });
  });

  test("a devcontainer.json that is broken later is named, and a refresh keeps the container", async () => {
    const { get, call, project_id } = await openProject({
      ".devcontainer.json": JSON.stringify({ image: IMAGE }),
    });
    await get("container.start", { project_id });
    const { workspace_id } = await get<{ workspace_id: string }>("workspace.create", { project_id });
    const command = `echo '{"image":' > .devcontainer.json; git -c user.name=A -c user.email=a@b.invalid commit -qam Break`;
    expect(await get("container.exec", { project_id, workspace_id, command })).toMatchObject({
      exit_code: 0,
    });
    expect(await get("workspace.merge", { workspace_id })).toMatchObject({ merged: true });
    const { error } = await call("container.refresh", { project_id });
    expect(error?.message).toMatch(/^\.devcontainer\.json: .*project\.update/);
    expect(await get("container.exec", { project_id, command: "echo here" })).toMatchObject({
      stdout: "here\n",
    });
  });

  test("that needs a download of a feature, or cannot be built, is an error that says so", async () => {
    const feature = "ghcr.io/devcontainers/features/node:1";
    const { call, project_id } = await openProject({
      ".devcontainer.json": JSON.stringify({ image: IMAGE, features: { [feature]: {} } }),
    });
    const { error } = await call("container.start", { project_id });
    expect(error).toMatchObject({ code: "UNSUPPORTED", message: expect.stringContaining(feature) });
    const broken = await openProject({ Containerfile: `FROM ${IMAGE}\nRUN exit 7\n` });
    const started = await broken.call("container.start", { project_id: broken.project_id });
    expect(started.error).toMatchObject({ code: "UPSTREAM_ERROR", message: expect.stringContaining("7") });
  });
}
