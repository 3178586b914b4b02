export type { RecordedVideo, Recorder } from "./recorder.ts";
export {
  type ClickOptions,
  createScreen,
  type Point,
  type Screen,
  type ScreenOptions,
  type Window,
} from "./screen.ts";
export { durationOf, findChanges, frameAt } from "./video.ts";
