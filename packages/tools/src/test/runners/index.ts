import type { Runner } from "../runner.ts";
import { cargoTest } from "./cargo-test.ts";
import { goTest } from "./go-test.ts";
import { jest } from "./jest.ts";
import { gradle, maven } from "./junit.ts";
import { mocha } from "./mocha.ts";
import { nodeTest } from "./node-test.ts";
import { playwright } from "./playwright.ts";
import { pytest } from "./pytest.ts";
import { ava, command, nodeTap } from "./tap.ts";
import { unittest } from "./unittest.ts";
import { vitest } from "./vitest.ts";

/** All known runners; any other command is still run and its output searched for results. */
const RUNNERS: readonly Runner[] = [
  vitest,
  jest,
  nodeTest,
  mocha,
  playwright,
  ava,
  nodeTap,
  pytest,
  unittest,
  goTest,
  cargoTest,
  maven,
  gradle,
];

export const runnerOf = (name: string): Runner =>
  RUNNERS.find((runner) => runner.name === name) ?? command(name);
