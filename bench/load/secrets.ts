/** What must not be written where others may read it: each secret is replaced by a short hash, the same for the same secret. */
import { createHash } from "node:crypto";
import type { Request } from "./request.ts";

const HASH = /^sha256:[0-9a-f]{8}$/;
/** @returns `sha256:1a2b3c4d`; a text that is one already, an empty one and a placeholder as they are */
export const hashOf = (secret: string): string =>
  secret === "" || HASH.test(secret) || secret.startsWith("{{")
    ? secret
    : `sha256:${createHash("sha256").update(secret).digest("hex").slice(0, 8)}`;

/** Called with each secret. */
export type Hide = (secret: string) => string;

/** Parts of the names of headers, of parameters in a query, of variables and of options that have secrets. */
const SECRET =
  /auth(?!or)|authori[sz]|cookie|credential|jwt|passw|pwd|secret|session|signature|token|(api|access|private)[-_]?key/i;
const isSecretHeader = (name: string) => SECRET.test(name) || /^x-(.*-)?key$/i.test(name);
const isSecretName = (name: string) => SECRET.test(name) || /^(key|pass|sid|sig)$/i.test(name);

/** @returns a text without the users and passwords, and without the secret parameters, of the URLs and paths in it */
export const hiddenText = (text: string, hide: Hide = hashOf): string =>
  text
    .replace(/\b([\w+.-]+:\/\/)([^\s/?#"'@]+)@/g, (all, scheme, who) =>
      // ssh://user@host has no secret.
      HASH.test(who) || (scheme === "ssh://" && !who.includes(":")) ? all : `${scheme}${hide(who)}@`,
    )
    .replace(/([?&;])([^\s?&;=#"']+)=([^\s&;#"'<>]+)/g, (all, before, name, value) =>
      isSecretName(name) ? `${before}${name}=${hide(value)}` : all,
    );

/** @returns a command without the secrets in its URLs, in assignments like DB_PASSWORD=x and in options like --token x */
export const hiddenCommand = (command: string, hide: Hide = hashOf): string =>
  hiddenText(command, hide).replace(VALUE, (all, before, name, value) =>
    isSecretName(name.replace(/^-+|[=\s]+$/g, "")) ? `${before}${name}${hide(value)}` : all,
  );
/** The value of NAME=VALUE, of --name=VALUE and of --name VALUE. */
const VALUE = /(^|[\s;'"])(-+[\w-]+(?:=|\s+(?!-))|\w+=)("[^"]*"|'[^']*'|[^\s;'"]+)/g;

/** @returns a request without the values of headers that authorize, secrets in its path, and its body */
export const hiddenRequest = (request: Request, hide: Hide = hashOf): Request => ({
  ...request,
  path: hiddenText(request.path, hide),
  headers: hiddenHeaders(request.headers, hide),
  ...(request.body !== undefined && { body: hide(request.body) }),
});

export const hiddenHeaders = (headers: Request["headers"], hide: Hide = hashOf): Request["headers"] =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [
      name,
      isSecretHeader(name) || /^(basic|bearer)\s/i.test(value) ? hide(value) : hiddenText(value, hide),
    ]),
  );
