/** The pure parts of shared/. */
import { expect, spyOn, test } from "bun:test";
import { answerError, HttpError, notFound, unavailable } from "../../shared/errors.ts";
import { settle } from "../../shared/settle.ts";
import { renderHi } from "../../shared/template.ts";

test("the template escapes what it is given", () => {
  expect(renderHi({ name: `<b>"Ben" & 'Co'</b>` })).toContain(
    "<p>Hi &lt;b&gt;&quot;Ben&quot; &amp; &#39;Co&#39;&lt;/b&gt;</p>",
  );
});

test("a value is settled at once, a promise later", async () => {
  expect(settle(1, (n) => n + 1)).toBe(2);
  const later = settle(Promise.resolve(1), (n) => n + 1);
  expect(later).toBeInstanceOf(Promise);
  expect(await later).toBe(2);
});

test("client errors keep status and message; the cause of others goes only to the log", () => {
  const log = spyOn(console, "error").mockImplementation(() => {});
  expect(answerError(new HttpError(400, "bad size"))).toEqual({
    status: 400,
    headers: {},
    body: { error: "bad size" },
  });
  expect(answerError(notFound)).toEqual({ status: 404, headers: {}, body: { error: "not found" } });
  expect(answerError(Object.assign(new Error("malformed"), { statusCode: 413 })).status).toBe(413);
  expect(answerError(unavailable)).toMatchObject({ status: 503, headers: { "retry-after": "1" } });
  expect(log).not.toHaveBeenCalled();
  for (const cause of [new Error("disk on fire"), "thrown text", { status: 200 }, { status: "404" }]) {
    expect(answerError(cause)).toEqual({ status: 500, headers: {}, body: { error: "internal error" } });
    expect(log).toHaveBeenLastCalledWith(cause);
  }
  log.mockRestore();
});
