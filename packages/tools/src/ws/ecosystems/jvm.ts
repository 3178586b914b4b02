import type { EntryPoint, PackageFolder } from "../detect/ecosystem.ts";

/** Identified by the artifact's group, which Maven and Gradle share. */
export const JVM_FRAMEWORKS = {
  "androidx.": "android",
  "com.android.": "android",
  "io.dropwizard": "dropwizard",
  "io.ktor": "ktor",
  "io.micronaut": "micronaut",
  "io.micronaut.": "micronaut",
  "io.quarkus": "quarkus",
  "io.quarkus.": "quarkus",
  "io.vertx": "vertx",
  "jakarta.platform": "jakarta-ee",
  "org.apache.spark": "spark",
  "org.hibernate.": "hibernate",
  "org.springframework.": "spring",
} as const;

/** The files that contain `main` by convention; finding it elsewhere would mean reading every file. */
export const jvmEntryPoints = (folder: PackageFolder): EntryPoint[] =>
  [...folder.filesBelow()]
    .filter((path) => /(^|\/)(Main|App|\w+Application)\.(java|kt|scala)$/.test(path))
    .map((path) => ({ path, kind: "main" }));
