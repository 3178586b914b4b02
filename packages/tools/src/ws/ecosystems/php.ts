import type { Ecosystem, EntryPoint } from "../detect/ecosystem.ts";
import { frameworksAmong } from "./frameworks.ts";

export const php: Ecosystem = {
  name: "php",
  markers: ["composer.json"],
  inspect(folder) {
    const manifest = folder.json("composer.json");
    const packages = new Set([...manifest.get("require").keys, ...manifest.get("require-dev").keys]);
    const usesPest = packages.has("pestphp/pest");
    const usesPhpunit = packages.has("phpunit/phpunit") || folder.first("phpunit.xml", "phpunit.xml.dist");
    return {
      name: manifest.get("name").text,
      managers: [{ name: "composer", from: "composer.json" }],
      build: [
        { name: "install", command: ["composer", "install"] },
        ...manifest
          .get("scripts")
          .keys.filter((name) => /^(build|lint|format|analyse|analyze|dev|check)(:[\w.-]+)*$/.test(name))
          .map((name) => ({ name, command: ["composer", "run", name] })),
      ],
      test: [
        ...(usesPest ? [{ runner: "pest", command: ["vendor/bin/pest"] }] : []),
        ...(usesPhpunit ? [{ runner: "phpunit", command: ["vendor/bin/phpunit"] }] : []),
      ],
      frameworks: frameworksAmong(packages, FRAMEWORKS),
      entryPoints: [
        ...["public/index.php", "index.php"]
          .filter(folder.hasFile)
          .map((path): EntryPoint => ({ path, kind: "server" })),
        ...["artisan", "bin/console"]
          .filter(folder.hasFile)
          .map((path): EntryPoint => ({ path, kind: "command" })),
        ...manifest.get("bin").texts.map((path): EntryPoint => ({ path, kind: "command" })),
      ],
    };
  },
};

const FRAMEWORKS = {
  "cakephp/cakephp": "cakephp",
  "codeigniter4/framework": "codeigniter",
  "laravel/framework": "laravel",
  "laravel/lumen-framework": "lumen",
  "slim/slim": "slim",
  "symfony/framework-bundle": "symfony",
  "symfony/symfony": "symfony",
  "yiisoft/yii2": "yii",
} as const;
