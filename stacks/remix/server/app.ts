/** React Router behind Express, as in its template node-custom-server. */

import * as build from "virtual:react-router/server-build";
import { createRequestHandler } from "@react-router/express";
import express, { type ErrorRequestHandler, type Express, type RequestHandler } from "express";
import { RouterContextProvider } from "react-router";
import { answerError, notFound } from "../../../shared/errors.ts";
import { type Opened, opened } from "../app/answers.ts";

/** React Router answers OPTIONS as GET, and other methods with 405. */
const refuse: RequestHandler = ({ method }, _response, next) => {
  if (method !== "GET" && method !== "HEAD") throw notFound;
  next();
};

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
