import { type Ecosystem, entryPointsAt, toCommands, toScripts } from "../detect/ecosystem.ts";
import { frameworksAmong } from "./frameworks.ts";

export const php: Ecosystem = {
  name: "php",
  markers: ["composer.json"],
  inspect(folder) {
    const manifest = folder.json("composer.json");
    const packages = new Set([...manifest.get("require").keys, ...manifest.get("require-dev").keys]);
    const usesPhpunit =
      packages.has("phpunit/phpunit") ||
      folder.first("phpunit.xml", "phpunit.xml.dist") ||
      /\bphpunit\b/.test(manifest.get("scripts", "test").text ?? "");
    const scripts = manifest
      .get("scripts")
      .keys.filter((name) => /^(build|lint|format|analyse|analyze|dev|check)(:[\w.-]+)*$/.test(name));
    return {
      name: manifest.get("name").text,
      managers: { composer: "composer.json" },
      build: [...toCommands({ install: "composer install" }), ...toScripts(scripts, "composer", "run")],
      test: toCommands({
        pest: packages.has("pestphp/pest") && "vendor/bin/pest",
        phpunit: usesPhpunit && "vendor/bin/phpunit",
      }),
      frameworks: frameworksAmong(packages, FRAMEWORKS),
      entryPoints: [
        ...entryPointsAt("server", ["public/index.php", "index.php"].filter(folder.hasFile)),
        ...entryPointsAt("command", ["artisan", "bin/console"].filter(folder.hasFile)),
        ...entryPointsAt("command", manifest.get("bin").texts),
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
