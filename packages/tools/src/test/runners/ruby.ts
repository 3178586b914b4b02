import {
  MINITEST_PLUGIN,
  MINITEST_PLUGIN_FILE,
  RSPEC_FORMATTER,
  RUBY_PATTERN_VARIABLE,
} from "../reporters/ruby.ts";
import {
  asArgument,
  cannot,
  escapePattern,
  idsOf,
  notInstalled,
  type Plan,
  type Runner,
  selectedBy,
} from "../runner.ts";
import { eventsEnv } from "./node.ts";

const FORMATTER = "octant_rspec.rb";

export const rspec: Runner = {
  name: "rspec",
  support: { [FORMATTER]: RSPEC_FORMATTER },
  reads: { from: "events" },
  isTestFile: (path) => path.endsWith("_spec.rb"),
  command(plan) {
    refuseCoverage(plan);
    const ours = ["--require", `${plan.scratch}/${FORMATTER}`, "--format", "OctantFormatter"];
    const selected = selectedBy(plan, {
      name: (text) => ["--example", text],
      file: (path) => [asArgument(path)],
      tests: idsOf,
    });
    return {
      argv: [...rubyCommand(plan), ...ours, "--format", "progress", ...(selected ?? [])],
      env: eventsEnv(plan.scratch),
    };
  },
};

export const minitest: Runner = {
  name: "minitest",
  support: { [MINITEST_PLUGIN_FILE]: MINITEST_PLUGIN },
  // `rake test` may run another library, which does not load our plugin.
  reads: { from: "events", orExitCode: true },
  isTestFile: (path) =>
    /(?:^|\/)(?:[^/]*_test|test_[^/]*)\.rb$/.test(path) && !path.endsWith("test_helper.rb"),
  command(plan) {
    refuseCoverage(plan);
    const { file, pattern } =
      selectedBy<{ file?: string; pattern?: string }>(plan, {
        name: (text) => ({ pattern: escapePattern(text) }),
        file: (path) => ({ file: asArgument(path) }),
        tests: (tests) => ({ pattern: `\\A(?:${idsOf(tests).map(escapePattern).join("|")})\\z` }),
      }) ?? {};
    const command = rubyCommand(plan);
    return {
      argv: file === undefined ? command : ofFile(command, file),
      env: {
        ...eventsEnv(plan.scratch),
        RUBYLIB: plan.scratch,
        ...(pattern !== undefined && { [RUBY_PATTERN_VARIABLE]: pattern }),
      },
    };
  },
};

/** A task of rake has no common option for a file, but every test file is a program. */
function ofFile(command: readonly [string, ...string[]], file: string): [string, ...string[]] {
  const at = command.indexOf("rake");
  const [first = "ruby", ...rest] = at < 0 ? command : [...command.slice(0, at), "ruby", "-Ilib", "-Itest"];
  return [first, ...rest, file];
}

/** The suite's command; without `bundle exec` when bundler is missing and the program is here. */
function rubyCommand({ suite, onPath }: Plan): [string, ...string[]] {
  const [first = "rake", ...rest] = suite.command;
  const [verb, program, ...args] = rest;
  if (verb !== "exec" || program === undefined || onPath(first)) return [first, ...rest];
  if (onPath(program)) return [program, ...args];
  throw notInstalled(first, "gem install bundler, or bundler on Debian; then bundle install");
}

function refuseCoverage({ suite, coverage }: Plan): void {
  if (coverage) throw cannot(suite.runner, "measure coverage", "add simplecov to the project");
}
