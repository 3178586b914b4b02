import { describe, expect, test } from "vitest";
import { type Exchange, NO_DESCRIPTION } from "../testing/hanzo-service.ts";
import { openHanzo, TOKEN } from "../testing/open-hanzo.ts";
import { BUILT_IN } from "./built-in.ts";
import { GROUPS } from "./operation.ts";

/** Parameters for each built-in operation, and the request that they make. */
const REQUESTS: Readonly<Record<string, readonly [object, Exchange["request"], unknown?]>> = {
  list_models: [{}, "GET /v1/models"],
  get_usage: [{ from: "2026-01-01" }, "GET /v1/usage?from=2026-01-01"],
  list_apps: [{ limit: 2, cursor: "a b" }, "GET /v1/apps?limit=2&cursor=a+b"],
  get_app: [{ app: "a/../b" }, "GET /v1/apps/a%2F..%2Fb"],
  list_deployments: [{ app: "shop" }, "GET /v1/apps/shop/deployments"],
  get_logs: [{ app: "shop", lines: 10 }, "GET /v1/apps/shop/logs?lines=10"],
  list_nodes: [{}, "GET /v1/nodes"],
  get_node: [{ node: "n?x=1" }, "GET /v1/nodes/n%3Fx%3D1"],
  whoami: [{}, "GET /v1/user"],
  list_organizations: [{}, "GET /v1/organizations"],
  create_app: [
    { name: "shop", image: "shop:1", env: { A: "1" } },
    "POST /v1/apps",
    { name: "shop", image: "shop:1", env: { A: "1" } },
  ],
  deploy_app: [{ app: "shop", image: "shop:2" }, "POST /v1/apps/shop/deployments", { image: "shop:2" }],
  scale_app: [{ app: "shop", replicas: 0 }, "PATCH /v1/apps/shop", { replicas: 0 }],
  roll_back_app: [{ app: "shop", deployment: "d1" }, "POST /v1/apps/shop/rollback", { deployment: "d1" }],
  delete_app: [{ app: "shop" }, "DELETE /v1/apps/shop"],
  create_node: [{ name: "n1", size: "s" }, "POST /v1/nodes", { name: "n1", size: "s" }],
  start_node: [{ node: "n1" }, "POST /v1/nodes/n1/start"],
  stop_node: [{ node: "n1" }, "POST /v1/nodes/n1/stop"],
  restart_node: [{ node: "n1" }, "POST /v1/nodes/n1/restart"],
  delete_node: [{ node: "n1" }, "DELETE /v1/nodes/n1"],
};

describe("built-in operations", () => {
  test("each sends exactly its request, and its dry run shows that request", async () => {
    expect(Object.keys(REQUESTS)).toEqual(BUILT_IN.map(({ name }) => name));
    const exchanges = Object.values(REQUESTS).map(([, request, body]) => ({
      request,
      body,
      answer: { ok: request },
    }));
    await using hanzo = await openHanzo([NO_DESCRIPTION, ...exchanges]);
    for (const { name, group } of BUILT_IN) {
      const [parameters, line, body] = REQUESTS[name] ?? [{}, "GET /"];
      const shown = await hanzo.call(`hanzo.${group}`, { operation: name, parameters, dry_run: true });
      const [method, path] = line.split(" ");
      expect(shown.data).toEqual({
        request: {
          method,
          url: new URL(path ?? "", hanzo.base_url).href,
          headers: {
            accept: "application/json",
            ...(body !== undefined && { "content-type": "application/json" }),
          },
          ...(body !== undefined && { body }),
        },
      });
      const sent = await hanzo.call(`hanzo.${group}`, { operation: name, parameters });
      expect(sent, name).toMatchObject({ ok: true, data: { status: 200, data: { ok: line } } });
    }
    expect(hanzo).toMatchObject({ waiting: [], unexpected: [] });
  });

  test("those that change are in actions that ask, the others in actions that read", async () => {
    await using hanzo = await openHanzo([]);
    const { actions = {} } = hanzo.registry.get("hanzo") ?? {};
    for (const { method, group } of BUILT_IN) expect(GROUPS[group].reads).toBe(method === "get");
    for (const [group, { reads }] of Object.entries(GROUPS))
      expect(actions[group]).toMatchObject(
        reads
          ? { access: "read", intent: "inspect" }
          : { access: "write", intent: "ship", destructive: true },
      );
    for (const group of ["deploy", "node"]) expect(actions[group]?.unaskedIn).toBeUndefined();
  });

  test("without an operation they are listed with their parameters", async () => {
    await using hanzo = await openHanzo([NO_DESCRIPTION]);
    const { data, meta } = await hanzo.call("hanzo.node", {});
    expect(meta.backend).toBe("built-in operations");
    const { operations } = Object(data);
    expect(operations.map(({ name }: { name: string }) => name)).toEqual(
      BUILT_IN.filter(({ group }) => group === "node").map(({ name }) => name),
    );
    expect(operations[1]).toMatchObject({
      request: "POST /nodes/{node}/start",
      parameters: { required: ["node"] },
    });
  });

  test.each([
    [
      "cloud",
      { operation: "delete_app", parameters: { app: "a" } },
      /delete_app is an operation of hanzo\.deploy/,
    ],
    ["deploy", { operation: "destroy" }, /no operation 'destroy'; hanzo\.deploy has create_app, deploy_app/],
    ["deploy", { operation: "scale_app", parameters: { app: "a" } }, /parameters\.replicas: scale_app: /],
    ["deploy", { operation: "scale_app", parameters: { app: "a", replicas: 1, x: 1 } }, /parameters: .*"x"/],
    ["cloud", { operation: "get_app", parameters: { app: ".." } }, /parameters\.app: '\.\.' is not a name/],
    ["deploy", { operation: "create_app", parameters: { name: "A b", image: "i" } }, /lower-case letters/],
  ])("hanzo.%s refuses %j and sends nothing", async (group, input, message) => {
    await using hanzo = await openHanzo([NO_DESCRIPTION]);
    const { error } = await hanzo.call(`hanzo.${group}`, input);
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", message: expect.stringMatching(message) });
    expect(hanzo).toMatchObject({ waiting: [], unexpected: [] });
  });
});

const DESCRIPTION = {
  openapi: "3.1.0",
  paths: {
    "/apps/{app}": {
      parameters: [{ $ref: "#/components/parameters/App" }],
      get: {
        operationId: "showApp",
        parameters: [{ name: "fields", in: "query", schema: { type: "array", items: { type: "string" } } }],
      },
      put: {
        operationId: "setApp",
        summary: "Set an app.",
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/App" } } },
        },
      },
    },
    "/nodes": { post: { requestBody: { content: { "application/json": { schema: { type: "object" } } } } } },
    "/things": { get: { operationId: "me", tags: ["Auth"] } },
  },
  components: {
    parameters: {
      App: { name: "app", in: "path", required: true, schema: { type: "string", pattern: "^[a-z]+$" } },
    },
    schemas: {
      App: {
        type: "object",
        required: ["size"],
        properties: { size: { $ref: "#/components/schemas/Size" } },
        additionalProperties: false,
      },
      Size: { type: "integer", minimum: 1 },
    },
  },
};
const DESCRIBED: Exchange = { request: "GET /v1/openapi.json", answer: DESCRIPTION };

describe("a server that describes its operations", () => {
  test("gets those, each in its action, and the built-in ones are unknown", async () => {
    await using hanzo = await openHanzo([
      DESCRIBED,
      { request: "GET /v1/apps/shop?fields=a&fields=b", answer: [1] },
      { request: "PUT /v1/apps/shop", body: { size: 2 }, status: 204 },
      { request: "POST /v1/nodes", body: { any: "thing" }, status: 201, answer: { id: "n1" } },
      { request: "GET /v1/things", answer: {} },
    ]);
    const app = { app: "shop" };
    const calls = [
      ["hanzo.cloud", "showApp", { ...app, fields: ["a", "b"] }, { status: 200, data: [1] }],
      ["hanzo.deploy", "setApp", { ...app, body: { size: 2 } }, { status: 204, data: null }],
      ["hanzo.node", "post_nodes", { body: { any: "thing" } }, { status: 201, data: { id: "n1" } }],
      ["hanzo.auth", "me", {}, { status: 200, data: {} }],
    ] as const;
    for (const [name, operation, parameters, data] of calls)
      expect(await hanzo.call(name, { operation, parameters })).toMatchObject({
        ok: true,
        data,
        meta: { backend: "the server's description" },
      });
    expect((await hanzo.call("hanzo.cloud", { operation: "list_models" })).error?.code).toBe(
      "INVALID_ARGUMENT",
    );
    expect(hanzo).toMatchObject({ waiting: [], unexpected: [] });
  });

  test.each([
    ["showApp", { app: "SHOP" }, "parameters.app"],
    ["showApp", {}, "parameters.app"],
    ["showApp", { app: "shop", other: 1 }, "parameters"],
  ])("validates the parameters of %s: %j", async (operation, parameters, path) => {
    await using hanzo = await openHanzo([DESCRIBED]);
    const { error } = await hanzo.call("hanzo.cloud", { operation, parameters });
    expect(error).toMatchObject({ code: "INVALID_ARGUMENT", details: { issues: [{ path }] } });
  });

  test.each([[{ size: 0 }], [{}], [{ size: 1, color: "red" }], [undefined]])(
    "validates the body %j",
    async (body) => {
      await using hanzo = await openHanzo([DESCRIBED]);
      const { error } = await hanzo.call("hanzo.deploy", {
        operation: "setApp",
        parameters: { app: "shop", body },
      });
      expect(error?.code).toBe("INVALID_ARGUMENT");
      expect(hanzo.unexpected).toEqual([]);
    },
  );

  test.each([
    ["another version", { swagger: "2.0" }],
    [
      "a reference that leads nowhere",
      { openapi: "3.0.0", paths: { "/a": { get: { parameters: [{ $ref: "#/x" }] } } } },
    ],
    ["a parameter that is not described", { openapi: "3.0.0", paths: { "/a/{b}": { get: {} } } }],
    [
      "a body that is not JSON",
      { openapi: "3.0.0", paths: { "/a": { post: { requestBody: { content: { "text/xml": {} } } } } } },
    ],
    [
      "a reference to itself",
      { openapi: "3.0.0", x: { $ref: "#/x" }, paths: { "/a": { get: { parameters: [{ $ref: "#/x" }] } } } },
    ],
  ])("is an UPSTREAM_ERROR with %s", async (_, answer) => {
    await using hanzo = await openHanzo([{ request: "GET /v1/openapi.json", answer }]);
    expect((await hanzo.call("hanzo.cloud", { operation: "x" })).error).toMatchObject({
      code: "UPSTREAM_ERROR",
      message: expect.stringMatching(/description cannot be used/),
    });
  });
});

describe("the sign-in", () => {
  const NEW = "sk-hanzo-fedcba9876543210";

  test("is refreshed once when the server refuses it", async () => {
    await using hanzo = await openHanzo(
      [NO_DESCRIPTION, { request: "GET /v1/user", answer: { id: 1 } }],
      [TOKEN, NEW],
    );
    expect((await hanzo.call("hanzo.auth", { operation: "whoami" })).data).toEqual({
      status: 200,
      data: { id: 1 },
    });
    expect(hanzo.tokens).toEqual([TOKEN, NEW, NEW]);
    expect(hanzo.asked.every((provider) => provider === "hanzo")).toBe(true);
  });

  test("that stays refused is UNAUTHENTICATED, without the token", async () => {
    await using hanzo = await openHanzo([], [TOKEN, NEW], []);
    const envelope = await hanzo.call("hanzo.auth", { operation: "whoami" });
    expect(envelope.error).toMatchObject({
      code: "UNAUTHENTICATED",
      message: expect.stringContaining("octant login hanzo"),
    });
    expect(hanzo.tokens).toEqual([TOKEN, NEW]);
    expect(JSON.stringify(envelope)).not.toMatch(/sk-hanzo/);
  });

  test.each([
    [400, "UPSTREAM_ERROR"],
    [404, "NOT_FOUND"],
    [500, "UPSTREAM_ERROR"],
  ])("is in no error that the server echoes it in: status %i", async (status, code) => {
    const answer = { error: `what is ${TOKEN}?`, header: `Bearer ${TOKEN}` };
    await using hanzo = await openHanzo([NO_DESCRIPTION, { request: "GET /v1/user", status, answer }]);
    const envelope = await hanzo.call("hanzo.auth", { operation: "whoami" });
    expect(envelope.error).toMatchObject({ code, message: expect.stringContaining("[redacted]") });
    expect(JSON.stringify(envelope)).not.toContain(TOKEN);
  });

  test("is in no answer, and in no dry run", async () => {
    await using hanzo = await openHanzo([
      NO_DESCRIPTION,
      { request: "GET /v1/user", answer: { key: TOKEN } },
    ]);
    const shown = await hanzo.call("hanzo.auth", { operation: "whoami", dry_run: true });
    const sent = await hanzo.call("hanzo.auth", { operation: "whoami" });
    expect(JSON.stringify([shown, sent])).not.toContain(TOKEN);
    expect(sent.data).toMatchObject({ data: { key: "[redacted]" } });
  });

  test("does not follow a redirect", async () => {
    await using other = await openHanzo([]);
    const location = `http://127.0.0.1:${other.port}/v1/user`;
    await using hanzo = await openHanzo([
      NO_DESCRIPTION,
      { request: "GET /v1/user", status: 302, headers: { location } },
    ]);
    expect((await hanzo.call("hanzo.auth", { operation: "whoami" })).error?.code).toBe("UPSTREAM_ERROR");
    expect(other.tokens).toEqual([]);
  });
});

test("a dry run without the server shows the built-in request and says so", async () => {
  const gone = await openHanzo([]);
  await gone[Symbol.asyncDispose]();
  const { data } = await gone.call("hanzo.auth", { operation: "whoami", dry_run: true });
  expect(data).toMatchObject({
    request: { method: "GET" },
    note: expect.stringMatching(/could not be asked .*ECONNREFUSED/),
  });
  expect((await gone.call("hanzo.auth", { operation: "whoami" })).error?.code).toBe("UPSTREAM_ERROR");
});
