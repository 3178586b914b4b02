import { expect, test } from "vitest";
import { newSecret, signedHeaders } from "./sign.ts";

test("the signature is that of the Standard Webhooks specification's example", () => {
  const delivery = { event_id: "msg_p5jXN8AQM9LWM0D4loKWxJek", body: '{"test": 2432232314}' };
  expect(signedHeaders("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", delivery, 1_614_265_330_999)).toEqual({
    "content-type": "application/json",
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("secrets have 256 random bits", () => {
  const secret = newSecret();
  expect(Buffer.from(secret.replace("whsec_", ""), "base64")).toHaveLength(32);
  expect(newSecret()).not.toBe(secret);
});
