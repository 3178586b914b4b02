export { missing } from "./program.ts";
export type { RecordedVideo, Recorder } from "./recorder.ts";
export { createScreen, type Screen } from "./screen.ts";
export { durationOf, type Frame, findChanges, frameAt, joinFrames } from "./video.ts";
