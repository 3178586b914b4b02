export { findCanaries } from "./canaries.ts";
export { collectSecrets, isSecretName } from "./collect-secrets.ts";
export { createRedactor, REDACTED, type Redact, redactErrors } from "./redactor.ts";
