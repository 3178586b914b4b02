import type { Plugin } from "vite";
import { IN_INSTALL } from "./built-layout.ts";
import { IN_TEMP } from "./published-command.ts";

/** How a module names the program of a process or a thread: beside itself, in the sources and in the build. */
const BESIDE = /new URL\(`\.\/([a-z-]+-entry)\$\{extname\(import\.meta\.url\)\}`, import\.meta\.url\)/;
const BUILT = `\${process.env["OCTANT_TEST_COMMAND"]}/${IN_INSTALL.replace(/bin\/.*/, "dist")}`;

/**
 * What a module starts in a test is the built program: the supervisor takes 40 ms of CPU instead of 140 ms, the process
 * of a pack 160 ms instead of 800 ms.
 */
export const builtEntries: Plugin = {
  name: "built-entries",
  transform: {
    // Packs are not part of the command.
    filter: { code: BESIDE, id: { exclude: /\/packs\/[^/]+\/src\// } },
    handler: (code) => {
      if (IN_TEMP) return undefined;
      const built = `process.getBuiltinModule("node:url").pathToFileURL(\`${BUILT}/$1.js\`)`;
      // Within a line, so the map to the source stays right.
      return { code: code.replace(BESIDE, built), map: null };
    },
  },
};
