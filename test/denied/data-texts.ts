/**
 * Arguments that take text, by tool, and name no file, host or command by themselves. What they reach is checked where
 * it is opened; the cross table tries each of them. A new text is added here, or declared by kind (core/src/argument-kinds.ts).
 */
export const DATA_TEXTS: Readonly<Record<string, string>> = {
  ws: "tool name path",
  fs: "lines content pattern base_hash files.*.base_hash glob glob.*",
  code: "also.* at query new_name lines pattern language",
  proc: "reason stdin wait_for.pattern proc_id text keys.* filter signal",
  test: "suite filter run_id",
  vcs: "ref message name lines",
  net: "query headers.(name) headers.* body body.form.(name) body.form.* body.form.*.* select",
  ui: "profile target fields.*.target fields.*.value find text keys keys.* to values.* download url script tab settings.device settings.locale settings.timezone settings.user_agent settings.permissions.* settings.headers.(name) settings.headers.* pattern respond.headers.(name) respond.headers.* respond.body respond.method recording",
  search: "query also.*",
  job: "job_id tool",
  event: "topic job_id",
  config: "key",
  annotation: "text kind",
  artifact: "name content mime tags.* parents.* creator artifact_id parent",
  cas: "content",
  graph: "name identity_id add.* remove.* from to kind tag",
  agent: "role task tools.* model agent_id message agent_ids.*",
  memory: "query also.* text terms.* tags.* source memory_id",
  mode: "name",
  llm: "prompt system output_schema.(name) output_schema.* model texts.* models.* judge",
  think: "thought analysis work_description code_snippets.* context",
  plan: "title steps.*.step_id steps.*.content steps.*.depends_on.* plan_id changes.*.step_id changes.*.content changes.*.depends_on.* changes.*.note changes.*.evidence.*.ref add.*.step_id add.*.content add.*.depends_on.* remove.*",
};

/** Of the actions that every tool has, and of pages. */
export const DATA_EVERYWHERE: readonly string[] = ["about", "cursor"];
