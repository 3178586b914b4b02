import { createOctant } from "@octant/app";

await using octant = createOctant({ projectPath: process.cwd() });
const file = await octant.client.fs.read({ uri: "README.md" });
if ("text" in file) console.log(file.text);
