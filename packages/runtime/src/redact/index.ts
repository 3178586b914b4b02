export { type CanaryFound, findCanaries } from "./canaries.ts";
export { collectSecrets, isSecretName, type SecretSettings } from "./collect-secrets.ts";
export { redactErrors } from "./redact-errors.ts";
export { createRedactor, REDACTED, type Redact, type RedactorOptions } from "./redactor.ts";
