export {
  createVimState,
  expirePending,
  PENDING_TIMEOUT_MS,
  pressKey,
  selection,
  type VimEffect,
  type VimMode,
  type VimResult,
  type VimState,
} from "./vim/index.ts";
