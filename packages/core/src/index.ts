export { hintFor, toPlainName } from "./alias-names.ts";
export { ALIASES } from "./aliases.ts";
export { type ArgumentKind, kindOfArgument, ofKind } from "./argument-kinds.ts";
export { type ArgumentPlace, placesIn, withPlaces } from "./argument-places.ts";
export { attempt } from "./attempt.ts";
export { ANSWER_BYTES, ANSWER_MARGIN_BYTES, MAX_ANSWER_BYTES } from "./budget.ts";
export { withBuiltins } from "./builtins.ts";
export { subjectOf } from "./call-subject.ts";
export { type CallEvent, type CallObserver, type ObservedCall, toCallFacts } from "./calls.ts";
export { type ActionsOf, type Client, createClient } from "./client.ts";
export type { Clock } from "./clock.ts";
export { didYouMean, nearestName } from "./did-you-mean.ts";
export type { RejectedCall } from "./dispatch.ts";
export {
  type Around,
  type Call,
  type CallOptions,
  type CheckedCall,
  createDispatcher,
  type Dispatch,
  type DispatcherOptions,
  type Reply,
  type Step,
} from "./dispatch.ts";
export { type Envelope, type ErrorBody, type Meta, type Paging, toErrorBody, toFailure } from "./envelope.ts";
export { ERRORS, type ErrorCode, invalidArgument, ToolError } from "./errors.ts";
export { type Fields, isFields } from "./fields.ts";
export { type Glob, matchWildcards, parseGlob, parseTextGlob, type Wildcard } from "./glob.ts";
export { renderAction, renderHelp } from "./help.ts";
export {
  Hash,
  HashPrefix,
  handle,
  isHashOf,
  JobId,
  newHandle,
  PatchId,
  Position,
  ProcId,
  Range,
  Ref,
  RunId,
  SymbolId,
  schemeOf,
  shortHash,
  Uri,
} from "./ids.ts";
export { JOB_STATES, type Job, type JobRequest, type JobState, PATIENCE_MS, toEndState } from "./jobs/job.ts";
export { createJobEvents, type JobEvent, type JobEventView, toEventView } from "./jobs/job-events.ts";
export type { JobFilter, JobStore, JobWrite } from "./jobs/job-store.ts";
export { createJobs, type Jobs } from "./jobs/jobs.ts";
export { createWorker, type Worker } from "./jobs/worker.ts";
export { createLineSplitter, type LineHandlers } from "./line-splitter.ts";
export { Lines, toRange } from "./lines.ts";
export { actionOf, ownAction, toolOf } from "./lookup.ts";
export {
  allowedIn,
  hasAccess,
  isSessionMode,
  isUnaskedIn,
  MODE_NAMES,
  MODES,
  type Mode,
  narrowestMode,
  SESSION_MODES,
  type SessionMode,
  toModeRefusal,
} from "./modes.ts";
export { orAborted } from "./or-aborted.ts";
export { ownerOf, sessionOf, toMemberId, toOwnerId } from "./owners.ts";
export { type Pack, type PackContext, PackManifest, PackRights } from "./pack.ts";
export { createCursors, createSeal, pagingInput, staleCursor } from "./paging.ts";
export {
  type AskOptions,
  createQuestions,
  type Follower,
  type QuestionEvent,
  type Questions,
} from "./questions/board.ts";
export { checkAnswer } from "./questions/check-answer.ts";
export { describeQuestion } from "./questions/describe.ts";
export { type FormField, fieldsOf, fillIn, parseValues } from "./questions/form.ts";
export {
  type Ask,
  type Confirmation,
  FORM_ANSWERS,
  type FormBody,
  type FormQuestion,
  type FormValues,
  PERMISSION_ANSWERS,
  type PermissionQuestion,
  type Question,
  type QuestionAnswer,
  type QuestionBody,
  type QuestionOutcome,
  QuestionSettled,
  type Risk,
} from "./questions/question.ts";
export { createRegistry, type Registry, type RegistryChange } from "./registry.ts";
export { resolveAliases } from "./resolve-aliases.ts";
export {
  asksForLargeAnswer,
  createCallRunner,
  createLargeCalls,
  type LargeCalls,
  MAX_CALLS_IN_FLIGHT,
  MAX_LARGE_CALLS,
  noBytesHere,
} from "./running/call-runner.ts";
export { type JsonSchema, toInputSchema, withoutDefaults } from "./schema.ts";
export { itemsOf, outlineOf, type SchemaPart } from "./schema-outline.ts";
export { SchemaPage, schemaPaging, toSchemaPage } from "./schema-page.ts";
export { refuseNewer } from "./stored-version.ts";
export {
  ANSWERS,
  type Answers,
  createListing,
  createLiveListing,
  type Listing,
  type ListingOptions,
  type LiveListing,
} from "./text/listing.ts";
export { type ListedTool, type Offer, PROFILES, type Profile } from "./text/profiles.ts";
export { createDescribe, createToText, type Describe, type ToText } from "./text/read-envelope.ts";
export { createShorten, type Shorten } from "./text/short-uris.ts";
export { type ActionText, counted, factsOf, type Reader, toTokens } from "./text/text.ts";
export {
  type Access,
  type Action,
  type AnyAction,
  type Attachment,
  action,
  type Backend,
  BackendStatus,
  type BinaryPart,
  type Caller,
  type Context,
  type DecisionNote,
  defineTool,
  type Intent,
  type ListingWeight,
  type Need,
  type OngoingJob,
  type OutputOf,
  type PlainCommand,
  type Progress,
  type RefReader,
  type StepContext,
  type StreamChunk,
  TIMINGS,
  type Timing,
  type Tool,
} from "./tool.ts";
export type { TopicPage } from "./topic.ts";
export { createTopic, type Published, type ReadableTopic, type Topic } from "./topic.ts";
export { createTopics, mayRead, type NamedTopic, ownerFor, type Topics, viewOf } from "./topics.ts";
export { toTraceId } from "./trace.ts";
export { toExact, toOneLine, toVisible, toVisibleJson } from "./visible.ts";
