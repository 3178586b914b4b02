import type { HttpRefusal } from "@octant/http";

export const sessionNotFound: HttpRefusal = {
  status: 404,
  code: -32_001,
  message: "Session not found",
};
