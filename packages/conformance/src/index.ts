export { DOMAINS, type Domain } from "./load-vectors.ts";
export { type DomainResult, type RunOptions, runVectors } from "./run-vectors.ts";
