// Calls whose arguments and answers the compiler checks.
import { createOctant } from "@octant/app";

await using octant = createOctant({ projectPath: import.meta.dirname });
const { fs, ws } = octant.client;

const { entries } = await fs.list({ uri: ".", pattern: "*.ts" });
console.log(`${entries.length} examples`);

const file = await fs.read({ uri: "README.md" });
if ("text" in file) console.log(file.text?.split("\n")[0]);

// @ts-expect-error: `url` is no parameter of fs.read.
await fs.read({ url: "README.md" }).catch((cause) => console.log(cause.code));

const { sandbox } = await ws.capabilities({});
console.log(`sandbox: ${sandbox.mode}`);
