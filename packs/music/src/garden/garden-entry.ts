// The first module of the process that garden/process.ts starts.
import { takeSharedImports } from "../shared-imports.ts";

const [, , folder = "", address = "", imports = "{}"] = process.argv;
takeSharedImports(JSON.parse(imports));
const { runGarden } = await import("./garden.ts");
await runGarden(folder, address);
