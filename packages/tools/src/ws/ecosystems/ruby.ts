import { type Ecosystem, entryPointsAt, toCommands } from "../detect/ecosystem.ts";
import { capturesIn } from "../formats/lines.ts";
import { frameworksAmong, namedAlike } from "./frameworks.ts";

export const ruby: Ecosystem = {
  name: "ruby",
  markers: ["Gemfile", "*.gemspec", "Rakefile"],
  inspect(folder) {
    const [gemspec] = folder.ending(".gemspec");
    const spec = gemspec ? folder.text(gemspec) : "";
    const gems = new Set([
      ...capturesIn(folder.text("Gemfile"), /^gem[\s(]+["']([\w.-]+)["']/),
      ...capturesIn(spec, /add_(?:\w+_)?dependency[\s(]+["']([\w.-]+)["']/),
    ]);
    const manifest = folder.first("Gemfile") ?? gemspec;
    const rake = manifest === undefined ? "rake test" : "bundle exec rake test";
    const isRails = gems.has("rails");
    const usesRspec = gems.has("rspec") || gems.has("rspec-rails") || folder.names.has(".rspec");
    const usesMinitest = gems.has("minitest") || folder.folderNames.has("test");
    return {
      name: capturesIn(spec, /\.name\s?=\s?["']([\w.-]+)["']/)[0] ?? gemspec?.replace(/\.gemspec$/, ""),
      managers: { ...(manifest !== undefined && { bundler: manifest }) },
      build: [
        ...toCommands({ install: manifest !== undefined && "bundle install" }),
        ...(gemspec ? [["build", ["gem", "build", gemspec]] as const] : []),
        ...toCommands({ start: isRails && "bin/rails server" }),
      ],
      test: toCommands({
        rspec: usesRspec && "bundle exec rspec",
        minitest: usesMinitest && (isRails ? "bin/rails test" : rake),
      }),
      frameworks: frameworksAmong(gems, FRAMEWORKS),
      entryPoints: [
        ...entryPointsAt("server", ["config.ru"].filter(folder.hasFile)),
        ...[...folder.filesBelow()]
          .filter((path) => /^exe\/[^/]+$/.test(path))
          .map((path) => ({ path, kind: "command" as const, name: path.slice("exe/".length) })),
      ],
    };
  },
};

const FRAMEWORKS = {
  ...namedAlike("hanami jekyll rails roda sidekiq sinatra"),
};
