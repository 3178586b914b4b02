export {
  createVimState,
  PENDING_TIMEOUT_MS,
  type VimEffect,
  type VimResult,
  type VimState,
} from "./state.ts";
export { expirePending, pressKey } from "./vim.ts";
export { selection } from "./visual.ts";
