export { type Blobs, createBlobs, toRef } from "./blobs/blobs.ts";
export type { Acting } from "./browser/acting.ts";
export { type Browsers, createBrowsers } from "./browser/browsers.ts";
export { invalid, isTimeout, messageOf, noPage } from "./browser/failures.ts";
export { EDITORS } from "./browser/page-script/index.ts";
export { loadPlaywright, type Page, type Route } from "./browser/playwright.ts";
export type { Profile } from "./browser/profile.ts";
export { PageAnswer, TWO_FRAMES, UNTRUSTED } from "./browser/report.ts";
export { markElements, takeChanges, takeSnapshot } from "./browser/snapshots.ts";
export { findTarget, toTargetError } from "./browser/targets.ts";
export { toShownUrl, toSiteUrl } from "./browser/workspace-site.ts";
export type { SnapshotChange } from "./checkpoints/changes.ts";
export type { Checkpoints, OpenCommand } from "./checkpoints/checkpoints.ts";
export { type Confinement, createConfinement, splitPath } from "./confinement.ts";
export type { Denials, Denied, ProgramLimits } from "./denials.ts";
export { compareStates } from "./edits/compare.ts";
export { createEdits, type Edits, type PatchResult } from "./edits/edits.ts";
export { createLock } from "./edits/lock.ts";
export { FileReport } from "./edits/plan-patch.ts";
export { MAX_EDIT_BYTES } from "./edits/read-before.ts";
export { errnoOf } from "./errno.ts";
export { excerptOfText } from "./files/excerpt.ts";
export { createFiles, type Files, resolveUri } from "./files/files.ts";
export { imageSize, MAX_IMAGE_BYTES } from "./files/images.ts";
export { Entry } from "./files/list.ts";
export { FileContent, type Reading, type ReadOptions } from "./files/read-file.ts";
export { EntryInfo, MAX_HASHED_BYTES } from "./files/stat.ts";
export { restOfCharacter, wholeCharacters } from "./files/text.ts";
export { type ApplyTo, applyPatch } from "./git/apply.ts";
export { type BlameGroup, readBlame } from "./git/blame.ts";
export { createBranch, deleteBranch, listBranches, listRefNames } from "./git/branches.ts";
export { switchTo } from "./git/checkout.ts";
export { makeCommit } from "./git/commit.ts";
export { emptyTree, findCommit, findHead } from "./git/commits.ts";
export { makeDiff, readDiffStat } from "./git/diff.ts";
export { excludeFromGit } from "./git/exclude.ts";
export { createGit, type Git, type Repository } from "./git/git.ts";
export { type HookRecord, recordHooks } from "./git/hooks.ts";
export { type Commit, isShallow, readLog } from "./git/log.ts";
export type { GitAllowance } from "./git/overrides.ts";
export type { FileDiff } from "./git/parse-diff.ts";
export { openPersonGit, PUSH } from "./git/person-git.ts";
export type { ChangedRef } from "./git/refs.ts";
export { findRepository, readSmallFile } from "./git/repository.ts";
export { findObject, readBlob, readFileAt } from "./git/show.ts";
export { listChanged, STAGE } from "./git/stage.ts";
export { type ChangeKind, readStatus, type Status } from "./git/status.ts";
export { hasInode, holdsLinkTo, inodeOf } from "./hard-links.ts";
export { hashFolder } from "./hash-folder.ts";
export { hashOf } from "./hashes.ts";
export { backgroundClock, systemClock } from "./jobs/clock.ts";
export { createJobStore } from "./jobs/job-store.ts";
export { isAlive, thisProcess } from "./jobs/process-identity.ts";
export {
  createLanguageClient,
  EDIT_MS,
  type FormatOptions,
  type LanguageClient,
  type SourceCall,
  type Spot,
} from "./language-servers/client.ts";
export { SEVERITIES, type SourceDiagnostic } from "./language-servers/diagnostics-of-file.ts";
export type { LanguageServer } from "./language-servers/language-server.ts";
export {
  createLanguageServers,
  type LanguageServers,
  type LanguageServersOptions,
} from "./language-servers/language-servers.ts";
export type { SourcePlace } from "./language-servers/lsp-places.ts";
export { startServer } from "./language-servers/server-process.ts";
export { readSourceText, type SourceText } from "./language-servers/source-text.ts";
export { ServerRefused, ServerUnavailable } from "./language-servers/unavailable.ts";
export { applyWorkspaceEdit, editPlaces, proposedEdits } from "./language-servers/workspace-edit.ts";
export { makeFolders } from "./make-folders.ts";
export { type FindOpener, openInBrowser } from "./network/browser.ts";
export { downloadFile } from "./network/download.ts";
export { useProxies } from "./network/global-proxy.ts";
export {
  createNetwork,
  type HttpResponse,
  LOCAL_POLICY,
  type Network,
  type NetworkOptions,
} from "./network/network.ts";
export { checkFree, placeFile } from "./network/place-file.ts";
export type { NetworkPolicy } from "./network/policy.ts";
export type { Resolve } from "./network/resolve-and-check.ts";
export { StructuredEdit } from "./patch/change.ts";
export { MAX_FILES, MAX_PATCH_BYTES, MAX_PATCH_LINES, parsePatch } from "./patch/parse.ts";
export { unifiedDiff } from "./patch/unified-diff.ts";
export {
  comparePaths,
  encodePath,
  fromNative,
  isWithin,
  type Path,
  pathToUri,
  toNative,
  uriToPath,
} from "./path.ts";
export { limitsOf } from "./processes/cgroup.ts";
export { passedEnvironment } from "./processes/environment.ts";
export { type Controller, findHierarchies, type Hierarchy } from "./processes/hierarchies.ts";
export { MAX_STDIN_BYTES } from "./processes/input-file.ts";
export type { ProcessInfo } from "./processes/process-info.ts";
export { isStopped } from "./processes/process-table.ts";
export { endTree } from "./processes/process-tree.ts";
export {
  createProcesses,
  MAX_RUNNING,
  OWN_COMMANDS,
  type ProcessEvent,
  type Processes,
} from "./processes/processes.ts";
export type { ProcessStatus } from "./processes/protocol.ts";
export type { Spool } from "./processes/spool.ts";
export type { ProcessSpec } from "./processes/start-order.ts";
export { runTrusted } from "./programs/run-trusted.ts";
export { printedBy, startLaunched, startTrusted } from "./programs/start-program.ts";
export {
  findOnPath,
  findOutsideProjects,
  findPowerShell,
  findTrusted,
  isProgram,
  pathOutsideProjects,
  type TrustedProgram,
} from "./programs/trusted-program.ts";
export { readLines } from "./read-lines.ts";
export { refusalOf } from "./refusals.ts";
export { readRegularFile } from "./regular-file.ts";
export { replaceFile } from "./replace-file.ts";
export { openAcceptance } from "./sandbox/acceptance.ts";
export {
  APART_PROXY,
  createSandbox,
  forwarderArgs,
  forwarderFile,
  proxyVariables,
} from "./sandbox/create-sandbox.ts";
export type { Exchange } from "./sandbox/exchange.ts";
export { homesOf } from "./sandbox/homes.ts";
export { parseHostRule } from "./sandbox/host-rules.ts";
export { installFolder } from "./sandbox/own-files.ts";
export { createProxy, type ProxyOptions } from "./sandbox/proxy.ts";
export type { LaunchedCommand, Sandbox, SandboxStatus } from "./sandbox/sandbox.ts";
export {
  DEFAULT_SANDBOX,
  type NetworkRule,
  SANDBOX_LEVELS,
  SANDBOX_MODES,
  type SandboxSettings,
} from "./sandbox/settings.ts";
export { realPath } from "./sandbox/tree.ts";
export { presentRoots } from "./search/present-roots.ts";
export { createRipgrep, type TextPattern } from "./search/ripgrep.ts";
export { parseBlock } from "./search/ripgrep-messages.ts";
export {
  MAX_SEARCH_MS,
  type Searchable,
  searchText,
  TextMatch,
  TextSearchPosition,
} from "./search/search-text.ts";
export { shellQuote } from "./shell-quote.ts";
export {
  createDatabase,
  durably,
  inTransaction,
  isDamaged,
  openDatabase,
  toDatabaseError,
} from "./sqlite/database.ts";
export { openSocketFolder, openStateFolder, type StateFolder } from "./state.ts";
export { Annotation } from "./store/annotations.ts";
export { Artifact, ArtifactId } from "./store/artifacts.ts";
export type { StoredContent } from "./store/content-store.ts";
export { Connection, DIRECTIONS, Identity, IdentityId } from "./store/graph.ts";
export type { ProjectStore } from "./store/project-store.ts";
export { makeTempFolder } from "./temp-folder.ts";
export { cacheFolder, dataFolder } from "./user-folders.ts";
export { createFileChanges, type FileChanges } from "./watching/file-changes.ts";
export { type ChangeListener, createWatcher, type Watcher, type WatcherStatus } from "./watching/watcher.ts";
export { createWorkspace, type Workspace } from "./workspace.ts";
