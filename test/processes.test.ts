import { expect, test } from "vitest";
import { commands } from "../scripts/torture/processes-commands.ts";
import { devServer } from "../scripts/torture/processes-dev-server.ts";
import { endWithin } from "../scripts/torture/processes-endings.ts";
import { flood } from "../scripts/torture/processes-flood.ts";
import { serverKills } from "../scripts/torture/processes-kills.ts";
import { driveLongJob } from "../scripts/torture/processes-long-job.ts";
import { repls } from "../scripts/torture/processes-repls.ts";
import { wholeOutput } from "../scripts/torture/processes-whole.ts";
import { createRandom, type Torture } from "../scripts/torture/report.ts";

// The same as `npm run torture` with smaller numbers.
const seldom = (torture: Torture, count: number) => torture(count, createRandom(1), () => {});

test("a killed server takes its processes along, and the next one reports their jobs as interrupted", async () => {
  expect((await seldom(serverKills, 2)).violations).toEqual([]);
});

test("a server that ends gracefully takes all its processes along", async () => {
  expect((await seldom(endWithin({ exitMs: 30_000, treeMs: 30_000 }), 1)).violations).toEqual([]);
});

test("a line of 40 MB costs no memory, is answered within the budget, and its ref reads by range", async () => {
  expect((await seldom(flood, 40)).violations).toEqual([]);
});

test("a job that outlasts its client's limit ends with its result", async () => {
  expect((await driveLongJob(7_000, 6_000)).violations).toEqual([]);
});

test("a dev server is reported ready by its text or its port", async () => {
  expect((await seldom(devServer, 1)).violations).toEqual([]);
});

test("many concurrent short commands leave no zombie and no open descriptor", async () => {
  expect((await seldom(commands, 48)).violations).toEqual([]);
});

test("commands of fifty concurrent clients return their whole output", async () => {
  expect((await seldom(wholeOutput, 100)).violations).toEqual([]);
});

test("node, python3 and a shell with job control answer ten times each", async () => {
  expect((await seldom(repls, 10)).violations).toEqual([]);
});
