export { findCanaries } from "./canaries.ts";
export { collectSecrets, isSecretName } from "./collect-secrets.ts";
export { redactErrors } from "./redact-errors.ts";
export { createRedactor, REDACTED, type Redact } from "./redactor.ts";
