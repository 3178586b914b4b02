export { describeMemoryStore } from "./memory/memory-store-contract.ts";
