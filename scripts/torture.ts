// `npm run torture -- [--only NAME] [--NAME COUNT] [--seed S]`: invariants under races, kills, swapped links and
// stubborn processes. `--only` may be repeated; a count of 0 skips one. Exits with 1 when any is violated.
import { buildCommand } from "../test/built-command.ts";
import { setup as shareCompileCache } from "../test/compile-cache.ts";

// Modules read the place of the built command when they are loaded.
process.env["OCTANT_TEST_COMMAND"] = await buildCommand();
process.on("exit", shareCompileCache());
await import("./torture/main.ts");
