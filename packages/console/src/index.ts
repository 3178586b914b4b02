export { API_PATH, CONSOLE_PATH, CSRF_HEADER } from "./api.ts";
