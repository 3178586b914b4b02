import type { ServerResponse } from "node:http";
import {
  describeQuestion,
  ERRORS,
  FORM_ANSWERS,
  invalidArgument,
  PERMISSION_ANSWERS,
  type Question,
  type QuestionAnswer,
  type Questions,
  ToolError,
} from "@octant/core";
import {
  createEventStream,
  DEFAULT_HTTP_LIMITS,
  type EventStream,
  type HttpRefusal,
  type HttpServer,
  type HttpServerOptions,
  methodNotAllowed,
  readJson,
  refuse,
  sendJson,
  toWwwAuthenticate,
} from "@octant/http";

const APPROVALS_PATH = "/approvals";

const MAX_ANSWER_BYTES = 16 * 1024;
const MAX_REASON_CHARS = 1_000;

/** Lists, streams and answers the calls that wait for an approval, for tokens with scope admin. */
export function mountApprovals(
  server: Pick<HttpServer, "mount">,
  source: Pick<Questions, "list" | "answer" | "attend" | "giveUp" | "events">,
  access: Pick<HttpServerOptions, "tokens" | "oauth">,
): void {
  const followers = new Set<EventStream>();
  const send = (stream: EventStream, event: unknown) => {
    // A slow client is disconnected; when it reconnects it gets all pending approvals.
    if (stream.isFull()) stream.end();
    else stream.send(JSON.stringify(event));
  };
  const stopAttending = source.attend(() => mayAdminister(access));
  const stopListening = source.events.listen(({ value }) => {
    const event =
      value.type === "asked"
        ? { type: "asked", approval: toApproval(value.question) }
        : { type: "settled", approval_id: value.question_id };
    for (const stream of followers) send(stream, event);
  });

  const follow = (response: ServerResponse) => {
    const stream = createEventStream(response, { keepAliveMs: DEFAULT_HTTP_LIMITS.keepAliveMs });
    response.once("close", () => followers.delete(stream));
    followers.add(stream);
    for (const question of source.list())
      stream.send(JSON.stringify({ type: "asked", approval: toApproval(question) }));
  };
  const answer = (response: ServerResponse, id: string, value: unknown, by: string) =>
    reply(response, () => {
      const given = parseAnswer(value, by);
      source.answer(id, given);
      return { approval_id: id, answer: given.answer };
    });

  server.mount(APPROVALS_PATH, {
    handle(request, response, caller) {
      // No other scope has this access: neither a read-only one nor one for a project.
      if (caller.access !== "admin") return refuse(response, NEEDS_ADMIN);
      const [path = "", query] = request.url?.split("?", 2) ?? [];
      const id = path.slice(APPROVALS_PATH.length + 1);
      if (id === "") {
        if (request.method !== "GET") refuse(response, methodNotAllowed("GET"));
        else if (new URLSearchParams(query).has("follow")) follow(response);
        else reply(response, () => ({ approvals: source.list().map(toApproval) }));
      } else if (request.method !== "POST") refuse(response, methodNotAllowed("POST"));
      else readJson(request, response, MAX_ANSWER_BYTES, (value) => answer(response, id, value, caller.id));
    },
    async drain() {
      stopAttending();
      source.giveUp();
      stopListening();
      for (const stream of followers) stream.end();
    },
  });
}

/** Whether a token with scope admin can exist; only the authorization server knows whether it issues one. */
const mayAdminister = ({ tokens, oauth }: Pick<HttpServerOptions, "tokens" | "oauth">): boolean =>
  oauth !== undefined ||
  tokens
    .list()
    .some(
      ({ scopes, expires }) =>
        scopes.includes("admin") && (expires === undefined || Date.parse(expires) > Date.now()),
    );

const NEEDS_ADMIN: HttpRefusal = {
  status: 403,
  message: "approvals need a token with scope admin",
  headers: {
    "www-authenticate": toWwwAuthenticate({ error: "insufficient_scope", scopes: ["admin"] }),
    // Its body is not read.
    connection: "close",
  },
};

/** The data as JSON, or the error with the status of its code. */
function reply(response: ServerResponse, work: () => unknown): void {
  try {
    sendJson(response, 200, JSON.stringify(work()));
  } catch (cause) {
    if (!(cause instanceof ToolError)) throw cause;
    const { code, message, details }: ToolError = cause;
    sendJson(response, ERRORS[code].http, JSON.stringify({ error: { code, message, details } }));
  }
}

/** A question as a console shows it. */
function toApproval(question: Question) {
  const { question_id, kind, action, caller, choices, asked_at, expires_at } = question;
  return {
    approval_id: question_id,
    kind,
    action,
    caller,
    /** As shown to a person, with control characters made visible. */
    text: describeQuestion(question).join("\n"),
    choices,
    /** The rule that "always" would write. */
    always: question.kind === "permission" ? (question.always?.rule ?? null) : null,
    ...(question.kind === "form" && { schema: question.schema ?? null, url: question.url ?? null }),
    asked_at,
    expires_at,
  };
}

const ANSWERS = [...PERMISSION_ANSWERS, ...FORM_ANSWERS];

function parseAnswer(value: unknown, by: string): QuestionAnswer {
  const { answer: given, reason, content } = Object(value);
  const answer = ANSWERS.find((choice) => choice === given);
  if (!answer) throw invalidArgument("answer", `answer: expected one of ${ANSWERS.join(", ")}`);
  if (reason !== undefined && !(typeof reason === "string" && reason.length <= MAX_REASON_CHARS))
    throw invalidArgument("reason", `reason: expected a text of at most ${MAX_REASON_CHARS} characters`);
  // The code that asked checks the values of a form.
  return { answer, reason, ...(content !== undefined && { content: Object(content) }), by: `token ${by}` };
}
