// Loaded with --import before the tests of a pack.
import { provideImports } from "./provide-imports.ts";

provideImports(process.cwd());
