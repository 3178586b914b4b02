export type { RecordedVideo, Recorder } from "./recorder.ts";
export { createScreen, type Screen } from "./screen.ts";
export { durationOf, findChanges, frameAt } from "./video.ts";
