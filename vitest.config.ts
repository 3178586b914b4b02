import { defineConfig } from "vitest/config";
import { closingLine } from "./test/closing-line.ts";

export default defineConfig({
  test: {
    include: ["packages/*/src/**/*.test.ts", "test/**/*.test.ts"],
    globalSetup: ["./test/private-home.ts", "./test/system-parts.ts"],
    reporters: ["default", closingLine],
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
