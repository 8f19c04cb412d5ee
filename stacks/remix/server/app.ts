/** React Router behind Express, as in its template node-custom-server. */

import * as build from "virtual:react-router/server-build";
import { createRequestHandler } from "@react-router/express";
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import { RouterContextProvider } from "react-router";
import { answerError, HttpError, notFound } from "../../../shared/errors.ts";
import { type Opened, opened } from "../app/context.ts";

/**
 * Refuses what React Router would answer in its own way: methods other than GET, with 405 or as GET; /plain/, as /plain;
 * and what cannot be decoded, after a warning.
 */
const refuse: RequestHandler = ({ method, path }, _response, next) => {
  if (method !== "GET" && method !== "HEAD") throw notFound;
  if (path.endsWith("/") && path !== "/") throw notFound;
  if (path.includes("%") && decoded(path) === undefined) throw new HttpError(400, `${path} cannot be decoded`);
  next();
};

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

const onError: ErrorRequestHandler = (error, _request, response, _next) => {
  const { status, body } = answerError(error);
  response.status(status).json(body);
};

/** @param value what loaders get from their context */
export function appOf(value: Opened): Express {
  const handler = createRequestHandler({
    build, // a function, as in the template, would be asked at each request, and all routes be made again
    getLoadContext() {
      const context = new RouterContextProvider();
      context.set(opened, value);
      return context;
    },
  });
  return express().disable("x-powered-by").disable("etag").use(refuse, handler, onError);
}
