// The first module of the thread that isolate.ts starts.
import { workerData } from "node:worker_threads";
import { takeSharedImports } from "../shared-imports.ts";
import type { Order } from "./isolate.ts";

// isolate.ts passes exactly this type.
takeSharedImports((workerData as Order).imports);
await import("./thread.ts");
