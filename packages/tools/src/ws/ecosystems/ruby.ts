import type { Ecosystem, PackageFolder, TestCommand } from "../detect/ecosystem.ts";
import { capturesIn } from "../formats/lines.ts";
import { frameworksAmong, namedAlike } from "./frameworks.ts";

export const ruby: Ecosystem = {
  name: "ruby",
  markers: ["Gemfile", "*.gemspec"],
  inspect(folder) {
    const [gemspec] = folder.ending(".gemspec");
    const spec = gemspec ? folder.text(gemspec) : "";
    const gems = new Set([
      ...capturesIn(folder.text("Gemfile"), /^gem[\s(]+["']([\w.-]+)["']/),
      ...capturesIn(spec, /add_(?:\w+_)?dependency[\s(]+["']([\w.-]+)["']/),
    ]);
    const isRails = gems.has("rails");
    return {
      name: capturesIn(spec, /\.name\s?=\s?["']([\w.-]+)["']/)[0] ?? gemspec?.replace(/\.gemspec$/, ""),
      managers: [{ name: "bundler", from: folder.first("Gemfile") ?? gemspec ?? "Gemfile" }],
      build: [
        { name: "install", command: ["bundle", "install"] },
        ...(gemspec ? [{ name: "build", command: ["gem", "build", gemspec] }] : []),
        ...(isRails ? [{ name: "start", command: ["bin/rails", "server"] }] : []),
      ],
      test: testCommands(folder, gems, isRails),
      frameworks: frameworksAmong(gems, FRAMEWORKS),
      entryPoints: [
        ...(folder.names.has("config.ru") ? [{ path: "config.ru", kind: "server" as const }] : []),
        ...[...folder.filesBelow()]
          .filter((path) => /^exe\/[^/]+$/.test(path))
          .map((path) => ({ path, kind: "command" as const, name: path.slice("exe/".length) })),
      ],
    };
  },
};

function testCommands(folder: PackageFolder, gems: ReadonlySet<string>, isRails: boolean): TestCommand[] {
  const usesRspec = gems.has("rspec") || gems.has("rspec-rails") || folder.names.has(".rspec");
  const usesMinitest = gems.has("minitest") || folder.folderNames.has("test");
  return [
    ...(usesRspec ? [{ runner: "rspec", command: ["bundle", "exec", "rspec"] }] : []),
    ...(usesMinitest
      ? [
          {
            runner: "minitest",
            command: isRails ? ["bin/rails", "test"] : ["bundle", "exec", "rake", "test"],
          },
        ]
      : []),
  ];
}

const FRAMEWORKS = {
  ...namedAlike("hanami jekyll rails roda sidekiq sinatra"),
};
