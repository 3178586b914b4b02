// Runs the scenarios of a conformance suite for clients, given as arguments, in one process: the suite itself would take
// half a second to start for each. It ends the process after a scenario, which here only ends that scenario.
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [node = "", , suite = "", command = "", folder = "", ...scenarios] = process.argv;
const { exit } = process;
// One stream, so that the end of a scenario follows what it wrote.
console.log = console.error;
process.on("unhandledRejection", (cause) => {
  if (cause?.message !== ENDED) throw cause;
});

const ENDED = "the scenario has ended";

for (const [number, scenario] of scenarios.entries()) {
  const { promise, resolve } = Promise.withResolvers();
  process.exit = () => {
    resolve();
    throw new Error(ENDED);
  };
  const flags = ["--command", command, "--scenario", scenario, "--output-dir", join(folder, String(number))];
  process.argv = [node, suite, "client", ...flags];
  import(`${pathToFileURL(suite)}?${number}`).catch(() => {});
  await promise;
  console.log(`END OF SCENARIO ${number}`);
}
exit(0);
