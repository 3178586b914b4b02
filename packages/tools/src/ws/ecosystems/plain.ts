import type { Ecosystem, TestCommand } from "../detect/ecosystem.ts";

interface PlainEcosystem {
  readonly name: string;
  readonly marker: string;
  readonly manager: string;
  readonly build: readonly string[];
  readonly test: TestCommand;
}

const TABLE: readonly PlainEcosystem[] = [
  {
    name: "elixir",
    marker: "mix.exs",
    manager: "mix",
    build: ["mix", "compile"],
    test: { runner: "mix test", command: ["mix", "test"] },
  },
  {
    name: "swift",
    marker: "Package.swift",
    manager: "swiftpm",
    build: ["swift", "build"],
    test: { runner: "swift test", command: ["swift", "test"] },
  },
  {
    name: "zig",
    marker: "build.zig",
    manager: "zig",
    build: ["zig", "build"],
    test: { runner: "zig test", command: ["zig", "build", "test"] },
  },
  {
    name: "scala",
    marker: "build.sbt",
    manager: "sbt",
    build: ["sbt", "compile"],
    test: { runner: "sbt test", command: ["sbt", "test"] },
  },
  {
    name: "haskell",
    marker: "stack.yaml",
    manager: "stack",
    build: ["stack", "build"],
    test: { runner: "stack test", command: ["stack", "test"] },
  },
  {
    name: "bazel",
    marker: "MODULE.bazel",
    manager: "bazel",
    build: ["bazel", "build", "//..."],
    test: { runner: "bazel test", command: ["bazel", "test", "//..."] },
  },
];

/** Ecosystems that need nothing beyond their marker. */
export const plain: readonly Ecosystem[] = TABLE.map(({ name, marker, manager, build, test }) => ({
  name,
  markers: [marker],
  inspect: () => ({
    managers: [{ name: manager, from: marker }],
    build: [{ name: "build", command: build }],
    test: [test],
  }),
}));
