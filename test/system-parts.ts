import type { TestProject } from "vitest/node";
import { missingEngines, missingPackages } from "../scripts/system-packages.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The system packages and heavy npm packages whose tests are skipped: `test.skipIf(inject("missing").includes("gopls"))`. */
    readonly missing: readonly string[];
  }
}

/** In CI nothing is skipped: a test with a missing part fails there. */
export function setup(project: TestProject): void {
  project.provide("missing", process.env["CI"] ? [] : [...missingPackages(), ...missingEngines()]);
}
