export { describeBlobs } from "./blobs/blobs-contract.ts";
