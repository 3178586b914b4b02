// A front end of your own: it finds the Octant processes of this person and shows what they do, as `octant watch` does.
import { createOctant, findProcesses } from "@octant/app";

// Some process to watch; in real life it runs elsewhere.
await using octant = createOctant({ projectPath: import.meta.dirname, command: "example" });

let found = await findProcesses();
while (found.length === 0) found = await findProcesses();
using process1 = found[0];
const { command, state } = (await process1?.status()) ?? {};
console.log(`${command} is ${state}`);

const ended = Promise.withResolvers<void>();
await process1?.follow({ topics: ["calls"] }, (event) => {
  console.log(`${event["tool"]}.${event["action"]} ${event["type"]}`);
  if (event["type"] === "ended") ended.resolve();
});
await octant.client.fs.read({ uri: "README.md" });
await ended.promise;
