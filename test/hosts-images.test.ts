import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { openEngine, type TestEngine } from "../packages/hub/testing/engines.ts";
import { openHost } from "../packages/hub/testing/open-host.ts";
import { git, openHub } from "../packages/hub/testing/open-hub.ts";
import { importTestImage } from "../packages/hub/testing/test-image.ts";
import { startNatsServer } from "../packages/wire/testing/nats-server.ts";
import { lacks } from "./ui/lacks.ts";

const IMAGE = "localhost/octant-test-image:1";
const found = lacks("busybox-static", "nats-server")
  ? "busybox-static or nats-server is not installed"
  : await openEngine("podman");
if (typeof found === "string") test.skip(`images on hosts (not here: ${found})`);
else describe("an image of a project on a host", () => describeImages(found));

function describeImages(opened: TestEngine): void {
  const { engine } = opened;
  afterAll(() => opened[Symbol.asyncDispose]());

  test("is built by the host that runs the project, and again after a rebuild", async () => {
    if (!(await engine.hasImage(IMAGE))) await importTestImage(engine, IMAGE);
    const server = await startNatsServer();
    onTestFinished(() => server.stop());
    const nats = { url: server.url };
    const { call, get, createSource } = await openHub({ nats });
    const { host, log } = await openHost({ nats, engine, labels: ["podman"] });
    const source = createSource();
    const commit = (line: string) => {
      writeFileSync(join(source, "Containerfile"), `FROM ${IMAGE}\nRUN echo ${line} > /built\n`);
      git(source, "add", "-A");
      git(source, "commit", "-qm", line);
    };
    commit("first");
    const { project_id } = await get<{ project_id: string }>("project.create", {
      ...{ name: "demo", folder: source, labels: { host: "podman" } },
    });
    const built = async () =>
      (await get<{ stdout: string }>("container.exec", { project_id, command: "cat /built" })).stdout;
    expect(await built(), log.join("\n")).toBe("first\n");

    commit("second");
    // A new workspace gets what is new in the source.
    await get("workspace.create", { project_id });
    const { meta } = await call("image_rebuild.project", { project_id });
    const job = () => get<{ job: { state: string } }>("job.status", { job_id: meta.job_id ?? "" });
    await vi.waitFor(async () => expect(await job()).toMatchObject({ job: { state: "complete" } }), {
      ...{ timeout: 90_000, interval: 200 },
    });
    expect((await get<{ text: string }>("container.logs", { project_id, tail: 500 })).text).toContain(
      "RUN echo second",
    );
    expect(await built()).toBe("first\n");
    await get("container.refresh", { project_id });
    expect(await built()).toBe("second\n");
    // The place of the build is free again.
    expect(host.places()).toBe(1);
  }, 240_000);

  test("that cannot be built is an error with the reason of the host", async () => {
    const server = await startNatsServer();
    onTestFinished(() => server.stop());
    const nats = { url: server.url };
    const { call, get, createSource } = await openHub({ nats });
    await openHost({ nats, engine });
    const source = createSource();
    writeFileSync(join(source, "Containerfile"), `FROM ${IMAGE}\nRUN exit 7\n`);
    git(source, "add", "-A");
    git(source, "commit", "-qm", "Broken");
    const { project_id } = await get<{ project_id: string }>("project.create", {
      ...{ name: "demo", folder: source },
    });
    expect((await call("container.exec", { project_id, command: "true" })).error).toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringContaining("7"),
    });
  }, 120_000);
}
